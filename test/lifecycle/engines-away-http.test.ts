import t, { type Test } from 'tap'
import { partsOf } from '../../packages/contract/openapi/names.ts'
import type { AnyRoute } from '../../packages/contract/routes.ts'
import { routes } from '../../services/families.ts'
import { eventually } from '../support/eventually.ts'
import { notReady } from '../support/eventstoredb-peer/failures.ts'
import { EventStoreDbPeer } from '../support/eventstoredb-peer/peer.ts'
import { startServiceWithGoogle } from '../support/identities/google.ts'
import { postgresBehindProxy } from '../support/network/postgres-behind-proxy.ts'
import { sample, type Sample } from '../support/samples.ts'
import type { TestService } from '../support/service.ts'

interface Engine {
  readonly service: TestService
  readonly goAway: () => Promise<void> | void
  readonly comeBack: () => Promise<void> | void
}

const engines: Readonly<Record<string, (t: Test) => Promise<Engine>>> = {
  'a PostgreSQL that is gone': async (t) => {
    const { url, gone, back } = await postgresBehindProxy(t)
    return {
      service: await startServiceWithGoogle(t, { ...settings, POSTGRES_URL: url }),
      goAway: gone,
      comeBack: back,
    }
  },
  'a PostgreSQL that is gone beside an EventStoreDB': async (t) => {
    const { url, gone, back } = await postgresBehindProxy(t)
    const peer = await eventStoreDb(t)
    const places = { POSTGRES_URL: url, EVENTSTORE_URL: peer.url }
    return {
      service: await startServiceWithGoogle(t, { ...settings, ...places }),
      goAway: gone,
      comeBack: back,
    }
  },
  'an EventStoreDB that is gone': async (t) => {
    const peer = await eventStoreDb(t)
    const service = await startServiceWithGoogle(t, { ...settings, EVENTSTORE_URL: peer.url })
    return { service, goAway: () => peer.line.close(), comeBack: () => peer.line.open() }
  },
  'an EventStoreDB that starts': async (t) => {
    const peer = await eventStoreDb(t)
    const service = await startServiceWithGoogle(t, { ...settings, EVENTSTORE_URL: peer.url })
    return { service, goAway: () => peer.failCalls(notReady), comeBack: () => peer.recover() }
  },
  'an EventStoreDB that has lost its leader': async (t) => {
    const peer = await eventStoreDb(t)
    const service = await startServiceWithGoogle(t, { ...settings, EVENTSTORE_URL: peer.url })
    return { service, goAway: () => peer.isLedBy(9), comeBack: () => peer.recover() }
  },
}

type Request = Sample & { readonly route: AnyRoute }

const settings = { LOG_LEVEL: 'silent' }

for (const [engine, open] of Object.entries(engines)) {
  t.test(`${engine} makes no request a 500, whatever it asks for`, async (t) => {
    const { service, goAway, comeBack } = await open(t)
    const requests: Request[] = []
    for (const route of routes) requests.push({ route, ...(await sample(service, route)) })
    // Whoever signs in later would have to wait too.
    for (const path of ['auth/me', 'customer-portal/session']) await service.get(`/api/v1/${path}`)
    await goAway()
    const send = async ({ route, path, body, key }: Request) => {
      const { method } = partsOf(route)
      const headers = { 'idempotency-key': encodeURIComponent(`${route.operation} of ${engine}`) }
      return {
        operation: route.operation,
        ...(await service.call(method.toUpperCase(), path, body, { ...(key && { key }), headers })),
      }
    }
    const answers = await Promise.all(requests.map(send))
    t.ok(answers.length > 0)
    t.ok(
      answers.some(({ status }) => status === 503),
      'it was away',
    )
    t.notMatch(JSON.stringify(answers), 'Idempotency-Key must', 'none was refused before it asked for it')
    for (const { operation, status, headers, body } of answers) {
      const isAnswered = status < 500 || status === 503 || status === 504
      t.ok(isAnswered, `${operation}: ${status} ${JSON.stringify(body).slice(0, 300)}`)
      if (status === 503) t.ok(Number(headers.get('retry-after')) > 0, `${operation} says when to come again`)
    }
    await comeBack()
    await eventually(
      () => service.get('/api/v1/balance'),
      ({ status }) => status === 200,
    )
  })
}

async function eventStoreDb(t: Test): Promise<EventStoreDbPeer> {
  const peer = await EventStoreDbPeer.start()
  t.teardown(() => peer.stop())
  return peer
}
