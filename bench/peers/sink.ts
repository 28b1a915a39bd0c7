import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A merchant's server: `/hang` never answers, all other paths answer at once. Tells how many it has taken.
 */

export interface SinkReport {
  readonly port: number
  readonly taken: number
}

let taken = 0
const server = createServer((request, response) => {
  request.resume()
  if (request.url === '/hang') return
  request.once('end', () => {
    taken++
    response.setHeader('Content-Length', 0)
    response.end()
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '0.0.0.0', report)
process.on('message', report)

function report(): void {
  process.send!({ port: (server.address() as AddressInfo).port, taken } satisfies SinkReport)
}
