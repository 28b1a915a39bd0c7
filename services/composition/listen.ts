import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { ConfigurationError } from '../../infra/configuration.ts'
import type { Health } from './observing/health.ts'

/**
 * For this long, keep-alive connections are told with each answer that they end; then idle ones are closed.
 */
const partingMs = 250
/**
 * Many may connect at once; beyond this backlog Linux makes clients wait for seconds (capped by somaxconn).
 */
const connectionsWaitingMax = 4_096
/** Longer than any request may take. */
const closingMsMax = 20_000

export interface Listening {
  readonly port: number
  /** Stops accepting; resolves when all requests in flight are answered. */
  close(): Promise<void>
}

/** Listens on a port, any free one for 0; if it is taken, the error names the setting. */
export function listen(server: Server, port: number, setting: 'PORT' | 'HEALTH_PORT'): Promise<Listening> {
  const connections = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE'
      reject(
        isTaken ? new ConfigurationError(`port ${port} is in use: set ${setting} to another one`) : error,
      )
    })
    // Nobody has opened a random port to the outside, so only this machine needs to reach it.
    const isOwn = port === 0 && setting === 'HEALTH_PORT'
    server.listen({ port, backlog: connectionsWaitingMax, ...(isOwn && { host: '127.0.0.1' }) }, () =>
      resolve({ port: (server.address() as AddressInfo).port, close: () => close(server, connections) }),
    )
  })
}

/**
 * Requests in flight are answered. Closing a connection while its client sends the next request would lose
 * that request, so busy clients are told first. Node applies no time-outs from here on, so silent clients are
 * disconnected here.
 */
async function close(server: Server, connections: ReadonlySet<Socket>): Promise<void> {
  server.prependListener('request', (_, response) => response.setHeader('Connection', 'close'))
  if (connections.size > 0) await pause(partingMs)
  let isClosed = false
  const closed = once(server, 'close').then(() => (isClosed = true))
  const deadline = setTimeout(() => server.closeAllConnections(), closingMsMax)
  server.close()
  while (!isClosed) {
    await Promise.race([closed, pause(partingMs)])
    server.closeIdleConnections()
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
  }
  clearTimeout(deadline)
}

/** The small server of a process that serves nothing else. */
export function serveHealth(health: Health, port: number): Promise<Listening> {
  const nothing: RequestListener = (_, response) => void response.writeHead(404).end()
  return listen(createServer(healthOr(health, nothing)), port, 'HEALTH_PORT')
}

/** Answers health requests and passes everything else to another listener. */
export function healthOr(health: Health, others: RequestListener): RequestListener {
  return (request, response) => {
    const answer = request.method === 'GET' ? health.answers[request.url ?? ''] : undefined
    if (!answer) return others(request, response)
    void answer().then(({ status, contentType, body }) => {
      response.writeHead(status, { 'Content-Type': contentType }).end(body)
    })
  }
}
