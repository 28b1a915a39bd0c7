import { connect } from 'node:net'
import express from 'express'
import t from 'tap'
import { Problem } from '../../packages/contract/refusals/problem.ts'
import { defaultClientTimeouts, serverOf } from '../../services/api/http/server.ts'
import { startApi } from '../../services/api/main.ts'
import { eventually } from '../support/eventually.ts'
import { schemaFaults } from '../support/schemas/schema-faults.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService

t.before(async () => {
  service = await startService(t)
})

interface Heard {
  readonly status: number
  readonly body: Record<string, unknown>
}

/** Writes these bytes and answers the one answer that comes back. */
async function exchange(port: number, text: string): Promise<Heard> {
  const heard = await everything(port, text)
  const [, status, body = ''] = /^HTTP\/1\.1 (\d+) .*?\r\n\r\n(.*)$/s.exec(heard) ?? []
  return { status: Number(status), body: body ? (JSON.parse(body) as Heard['body']) : {} }
}

/** Writes these bytes and returns all that comes back until the other side ends the connection. */
async function everything(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  let heard = ''
  let isEnded = false
  socket.setEncoding('utf8').on('data', (part: string) => (heard += part))
  // A reset by a server that has not read everything is an end as well.
  socket.on('error', () => undefined).on('close', () => (isEnded = true))
  socket.write(text)
  // Sooner than Node looks for slow clients by itself.
  await eventually(async () => isEnded, Boolean, 20_000)
  return heard
}

const requests: Readonly<Record<string, readonly [text: string, status: number, code: string]>> = {
  'no HTTP at all': ['\x16\x03\x01 hello\r\n\r\n', 400, 'IKW-REQ-010'],
  'an unknown method': ['FETCH / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'IKW-REQ-010'],
  'two lengths': [
    'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    400,
    'IKW-REQ-010',
  ],
  'a control character in a header': ['GET / HTTP/1.1\r\nHost: x\r\nA: \x01\r\n\r\n', 400, 'IKW-REQ-010'],
  'no host': ['GET /nowhere HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'IKW-REQ-010'],
  'too many headers': [`GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'IKW-REQ-011'],
  'too long an address': [`GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, 'IKW-REQ-011'],
}

for (const [what, [text, status, code]] of Object.entries(requests)) {
  t.test(`a request with ${what} is refused as a problem`, async (t) => {
    const answer = await exchange(Number(new URL(service.url).port), text)
    t.match(answer, { status, body: { status, code } })
    t.strictSame(schemaFaults(Problem, answer.body), [])
  })
}

t.test('a request that names no host is taken from clients that never do', async (t) => {
  const answer = await exchange(Number(new URL(service.url).port), 'GET /nowhere HTTP/1.0\r\n\r\n')
  t.match(answer, { status: 404, body: { code: 'IKW-RES-001' } })
})

t.test('an expectation that nobody knows is ignored', async (t) => {
  const text = 'GET /nowhere HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nConnection: close\r\n\r\n'
  const answer = await exchange(Number(new URL(service.url).port), text)
  t.match(answer, { status: 404, body: { code: 'IKW-RES-001' } })
})

t.test('a request that is none gets its refusal after the answers to those before it', async (t) => {
  const requests = ['/api/v1/balance', '/api/v1/merchant/payouts'].map((path) =>
    [`GET ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${service.sandboxKey}`, '', ''].join('\r\n'),
  )
  const heard = await everything(Number(new URL(service.url).port), `${requests.join('')}FETCH /\r\n\r\n`)
  t.strictSame(heard.match(/(?<=HTTP\/1\.1 )\d+/g), ['200', '200', '400'])
})

t.test('a client that is too slow is told so and cut off', async (t) => {
  const clientTimeouts = { headersMs: 100, requestMs: 200, checkEveryMs: 50 }
  const { runtime } = service.service
  const impatient = await startApi({ runtime, clientTimeouts })
  t.teardown(() => impatient.close())
  const slow = {
    'within its headers': 'GET /healthz HTTP/1.1\r\nHost: ',
    'before its headers': '\r\n',
  }
  for (const [where, text] of Object.entries(slow)) {
    const answer = await exchange(impatient.port, text)
    t.match(answer, { status: 408, body: { code: 'IKW-REQ-008', retryable: true } }, where)
  }
})

t.test('who sends nothing more is cut off after ten seconds, or fifteen for the whole request', async (t) => {
  const { port } = new URL(service.url)
  const begun = performance.now()
  const head = ['POST /api/v1/payouts HTTP/1.1', 'Host: x', `Authorization: Bearer ${service.sandboxKey}`]
  const named = [...head, 'Ikw-Environment: sandbox', 'Idempotency-Key: slow']
  const body = ['Content-Type: application/json', 'Content-Length: 100', '', '{"amount":']
  const slow = {
    'within the headers': [head, 408],
    'within the body': [[...named, ...body], 408],
    // And gets this one answer only.
    'within the body of what is refused at once': [[...head, ...body], 400],
  } as const
  await Promise.all(
    Object.entries(slow).map(async ([where, [lines, status]]) => {
      const answer = await exchange(Number(port), lines.join('\r\n'))
      const seconds = (performance.now() - begun) / 1_000
      t.equal(answer.status, status, where)
      // Node itself looks for slow clients every half minute.
      t.ok(seconds > 9 && seconds < 20, `${where}: after ${seconds.toFixed(1)} s`)
    }),
  )
})

t.test('a server takes 10,000 connections, and keeps idle ones for longer than balancers do', async (t) => {
  const given = { app: express(), listener: () => undefined, baseUrl: service.url }
  const server = serverOf({ ...given, clientTimeouts: defaultClientTimeouts })
  t.teardown(() => server.close())
  const { maxConnections, keepAliveTimeout, headersTimeout, requestTimeout } = server
  t.strictSame(
    { maxConnections, keepAliveTimeout, headersTimeout, requestTimeout },
    { maxConnections: 10_000, keepAliveTimeout: 65_000, headersTimeout: 10_000, requestTimeout: 15_000 },
  )
})
