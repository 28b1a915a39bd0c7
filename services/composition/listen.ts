import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ConfigurationError } from '../../infra/configuration.ts'
import type { Health } from './health.ts'

export interface Listening {
  readonly port: number
  /** Stops accepting; resolves when what is in flight is answered. */
  close(): Promise<void>
}

/** Listens on a port, any free one for 0; the setting that it comes from is named when it is taken. */
export function listen(server: Server, port: number, setting: 'PORT' | 'HEALTH_PORT'): Promise<Listening> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE'
      reject(isTaken ? new ConfigurationError(`port ${port} is in use: set ${setting} to another one`) : error)
    })
    server.listen(port, () => resolve({ port: (server.address() as AddressInfo).port, close: () => close(server) }))
  })
}

/** Requests in flight are answered; connections that only wait are closed. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })
}

/** The small server of a process that serves nothing else. */
export function serveHealth(health: Health, port: number): Promise<Listening> {
  const server = createServer((request, response) => {
    const answer = request.method === 'GET' ? health.answers[request.url ?? ''] : undefined
    if (!answer) {
      response.writeHead(404).end()
      return
    }
    void answer().then(({ status, contentType, body }) => {
      response.writeHead(status, { 'Content-Type': contentType }).end(body)
    })
  })
  return listen(server, port, 'HEALTH_PORT')
}
