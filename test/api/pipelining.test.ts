import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { partsOf } from '../../packages/contract/openapi/names.ts'
import type { AnyRoute } from '../../packages/contract/routes.ts'
import { routes } from '../../services/families.ts'
import { issueKey } from '../support/credentials.ts'
import { eventually } from '../support/eventually.ts'
import { unknownSample } from '../support/samples.ts'
import { startService, type TestService } from '../support/service.ts'

const pipelined = 200
let service: TestService

t.before(async () => {
  service = await startService(t)
})

/** So many requests at once on one connection, which is then reset before they are answered. */
async function pipelineAndReset(request: string): Promise<void> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(request.repeat(pipelined))
  // Once the first answer has come, the others are being worked on or wait for their turn.
  await once(socket, 'data')
  socket.resetAndDestroy()
  await once(socket, 'close')
}

function requestTo(route: AnyRoute, key: string): string {
  const { path, body } = unknownSample(route)
  const text = body ? JSON.stringify(body) : ''
  const head = [
    `${partsOf(route).method} ${path} HTTP/1.1`,
    'Host: localhost',
    ...(key ? [`Authorization: Bearer ${key}`, 'Ikw-Environment: sandbox'] : []),
    ...(text ? ['Content-Type: application/json'] : []),
    `Content-Length: ${Buffer.byteLength(text)}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${text}`
}

async function inFlight(): Promise<number> {
  const text = await service.service.runtime.health.metrics.text()
  return Number(/^http_requests_in_flight (\d+)$/m.exec(text)?.[1])
}

t.test('pipelined requests whose connection dies do not stay in flight', async (t) => {
  t.not(routes.length, 0)
  for (const route of routes) await pipelineAndReset(requestTo(route, service.sandboxKey))
  for (let count = 0; count < 10; count++) await pipelineAndReset('GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n')
  t.equal(await eventually(inFlight, (count) => count === 0), 0)
  t.equal((await service.get('/api/v1/balance')).status, 200, 'and others are served')
})

t.test('a request whose client leaves while it is found out who asks is over at once', async (t) => {
  const route = routes.find(({ operation }) => operation === 'POST /api/v1/payouts')!
  for (let count = 0; count < 10; count++) {
    // It takes a moment to find a key that nobody has used yet.
    const request = requestTo(route, await issueKey(service, { scopes: ['*'] }))
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.on('error', () => undefined).resume()
    await once(socket, 'connect')
    socket.end(request)
    await once(socket, 'close')
  }
  const patienceMs = 3_000
  t.equal(await eventually(inFlight, (count) => count === 0, patienceMs), 0, 'not when its body is late')
})
