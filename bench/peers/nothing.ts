import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Answers every request at once, which shows the most that a load generator can reach. */
const server = createServer((_request, response) => {
  response.setHeader('Content-Length', 2)
  response.end('{}')
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://localhost:${(server.address() as AddressInfo).port}\n`)
})
