import { createServer, STATUS_CODES, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { randomUUID } from 'node:crypto'
import type { Express } from 'express'
import { Refusal, type RefusalName } from '../../../packages/contract/refusals.ts'
import { messageClasses } from './mount.ts'
import { problem } from './problem.ts'
import { closingQueuedResponses } from './queued-responses.ts'

/** Time limits for clients. */
export interface ClientTimeouts {
  readonly headersMs: number
  /** The whole request. */
  readonly requestMs: number
  /** How late a slow client is noticed. */
  readonly checkEveryMs: number
}

export const defaultClientTimeouts: ClientTimeouts = {
  headersMs: 10_000,
  requestMs: 15_000,
  checkEveryMs: 1_000,
}

const keepAliveTimeoutMs = 65_000
const connectionsMax = 10_000

export interface ServerOptions {
  readonly app: Express
  readonly listener: RequestListener
  readonly clientTimeouts: ClientTimeouts
  readonly baseUrl: string
}

/** A server that disconnects slow clients, and answers invalid HTTP as it answers everything else. */
export function serverOf({ app, listener, clientTimeouts, baseUrl }: ServerOptions): Server {
  const newest = new WeakMap<Duplex, ServerResponse>()
  const answer = closingQueuedResponses((request, response) => {
    newest.set(request.socket, response)
    return listener(request, response)
  })
  const server = createServer(
    {
      ...messageClasses(app),
      // Node would refuse with an empty answer.
      requireHostHeader: false,
      keepAliveTimeout: keepAliveTimeoutMs,
      headersTimeout: clientTimeouts.headersMs,
      requestTimeout: clientTimeouts.requestMs,
      connectionsCheckingInterval: clientTimeouts.checkEveryMs,
    },
    answer,
  )
  // RFC 9110: what else a client expects may be ignored; Node would refuse it with an empty answer.
  server.on('checkExpectation', answer)
  server.maxConnections = connectionsMax
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Answered before its body had arrived: another answer would be taken for that to the next request.
    const last = newest.get(socket)
    if (last?.writableEnded && !last.req.complete) return void socket.destroy()
    afterAnswers(socket, () => refuseConnection(error, socket, baseUrl))
  })
  return server
}

const refusals: Readonly<Record<string, RefusalName>> = {
  HPE_HEADER_OVERFLOW: 'headers_must_not_be_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'body_must_not_be_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'body_must_arrive_in_time',
}

/** The response whose turn it is on a connection. */
function answering(socket: Duplex): ServerResponse | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined
}

/** Otherwise the refusal of a pipelined request would be taken for the answer to the one before it. */
function afterAnswers(socket: Duplex, refuse: () => void): void {
  const earlier = answering(socket)
  if (!earlier?.req.complete) return refuse()
  earlier.once('finish', () => afterAnswers(socket, refuse))
}

/** Node itself would send a bare status line, which clients' problem handling cannot read. */
function refuseConnection({ code = '' }: NodeJS.ErrnoException, socket: Duplex, baseUrl: string): void {
  // In the middle of an answer nothing else can be sent.
  if (!socket.writable || answering(socket)?.headersSent) return void socket.destroy()
  const refusal = new Refusal(refusals[code] ?? 'request_must_be_http')
  const requestId = `req_${randomUUID().replaceAll('-', '')}`
  const body = problem(refusal, { instance: '', requestId, baseUrl })
  const text = JSON.stringify(body)
  const lines = [
    `HTTP/1.1 ${body.status} ${STATUS_CODES[body.status]}`,
    'Connection: close',
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    `Ikw-Request-Id: ${requestId}`,
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`)
}
