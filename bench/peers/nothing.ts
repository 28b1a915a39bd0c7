import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Answers everything at once: what is left is what a load generator can do at most. */
const server = createServer((_request, response) => {
  response.setHeader('Content-Length', 2)
  response.end('{}')
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://localhost:${(server.address() as AddressInfo).port}\n`)
})
