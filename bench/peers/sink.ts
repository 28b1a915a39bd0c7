import { createServer, type AddressInfo, type Socket } from 'node:net'

/**
 * A merchant's server: `/hang` never answers, every other path answers at once. Counts what it receives. It
 * shares the processors with what is measured, so it does no more than find the end of each request.
 */

export interface SinkReport {
  readonly port: number
  readonly taken: number
}

const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'
const headEnd = '\r\n\r\n'
let taken = 0
const server = createServer((socket) => {
  let request = ''
  socket.setNoDelay(true)
  socket.on('error', () => undefined)
  socket.on('data', (bytes) => {
    request += bytes.toString('latin1')
    if (!isWhole(request)) return
    if (!request.startsWith('POST /hang')) take(socket)
    request = ''
  })
})
server.listen(0, '0.0.0.0', report)
process.on('message', report)

function take(socket: Socket): void {
  taken++
  socket.write(answer)
}

/** Clients never pipeline here. */
function isWhole(request: string): boolean {
  const end = request.indexOf(headEnd)
  if (end < 0) return false
  const [, length = 0] = /\r\ncontent-length: (\d+)\r\n/i.exec(request) ?? []
  return request.length === end + headEnd.length + Number(length)
}

function report(): void {
  process.send!({ port: (server.address() as AddressInfo).port, taken } satisfies SinkReport)
}
