import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import file, { type Test } from 'tap'
import { v7 } from 'uuid'
import { InProcessBus } from '../../infra/event-bus/in-process.ts'
import { openEmbeddedStore } from '../../infra/event-store/embedded/store.ts'
import { addressBlocks } from '../../infra/http/addresses.ts'
import { guardedPools, type EgressOptions } from '../../infra/http/egress.ts'
import { Deliveries } from '../../infra/postgres/webhooks/deliveries.ts'
import { keepPublicEvents, postgresPublicEvents } from '../../infra/postgres/webhooks/public-events.ts'
import { publishMissing } from '../../infra/postgres/read-models/publication.ts'
import { PostgresReadStore } from '../../infra/postgres/read-models/read-store.ts'
import { Replays } from '../../infra/postgres/webhooks/replays.ts'
import { postgresSnapshots } from '../../infra/postgres/snapshots.ts'
import { openVault } from '../../infra/secrets/vault.ts'
import { publicEventId } from '../../packages/contract/identity.ts'
import { Refusal } from '../../packages/contract/refusals.ts'
import {
  secretContext,
  webhookEndpoint,
  type WebhookEndpointCommands,
} from '../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import { webhookReplay } from '../../packages/domain/webhook-endpoints/webhook-replay.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { Executor } from '../../packages/kernel/execution/execute.ts'
import { foldStored } from '../../packages/kernel/history.ts'
import type { PublicEvent } from '../../packages/kernel/ports/messages.ts'
import type { Log, Mail, Mailer } from '../../packages/kernel/ports.ts'
import { webhookEndpoints, webhookReplays } from '../../projections/webhook-endpoints.ts'
import { startProjector } from '../../services/projector/main.ts'
import { startWebhooks, type WebhookGauges, type WebhookLimits } from '../../services/webhooks/main.ts'
import { testDatabase } from './postgres.ts'

export const minuteMs = 60_000
const masterKeys = { current: randomBytes(32), older: [] }

/** Waits for what happens on its own; the test's own time-out is the only clock. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(5)
}

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A merchant's server. It answers 200 at once, unless a test says otherwise. */
export async function receiver(t: Test) {
  const received: Received[] = []
  const underWay = new Map<string, number>()
  const self = {
    received,
    /** The most requests open at once, by path. */
    mostAtOnce: new Map<string, number>(),
    answer: (_: Received, response: ServerResponse): void => void response.end(),
    url: '',
    events: (path?: string) =>
      received.filter((one) => !path || one.path === path).map(({ headers }) => headers['webhook-id']),
  }
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    underWay.set(path, (underWay.get(path) ?? 0) + 1)
    self.mostAtOnce.set(path, Math.max(self.mostAtOnce.get(path) ?? 0, underWay.get(path) ?? 0))
    response.once('close', () => underWay.set(path, (underWay.get(path) ?? 0) - 1))
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const one = { path, headers: request.headers, body: Buffer.concat(chunks).toString() }
    received.push(one)
    self.answer(one, response)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.teardown(() => void server.close().closeAllConnections())
  self.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return self
}

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined }
const refusals = {
  notFound: () => new Refusal('resource_must_exist'),
  changedMeanwhile: () => new Refusal('resource_must_not_have_changed'),
  otherRevision: () => new Refusal('resource_must_be_as_it_was_seen'),
  overloaded: () => new Refusal('service_must_not_be_overloaded'),
}

let base: ReturnType<typeof openBase> | undefined

/** What all tests of a file share, because it takes a second to open. */
async function openBase() {
  const { url, pool, reads } = await testDatabase(file)
  const store = await openEmbeddedStore({ url })
  const deliveries = new Deliveries(url)
  const models = [webhookEndpoints, webhookReplays]
  await publishMissing(pool, models, '')
  const projector = await startProjector({
    pool,
    store,
    models,
    deciders: [webhookEndpoint, webhookReplay],
    dependents: '',
    log: silent,
  })
  file.teardown(async () => {
    await projector.close()
    await store.close()
    await deliveries.close()
  })
  return { pool, reads, store, models, deliveries }
}

/** Everything that deliveries need, for a merchant of its own; only the test moves its clock. */
export async function webhookFixture() {
  const { pool, reads, store, models, deliveries } = await (base ??= openBase())
  await pool.query('truncate deliveries, webhook_workers, webhook_replay_plans')
  await pool.query('delete from read.webhook_replays')
  let now = Date.parse('2026-01-01T12:00:00.000Z')
  const clock = () => new Date(now)
  return {
    pool,
    publicEvents: postgresPublicEvents({ pool, reads }),
    store,
    deliveries,
    clock,
    executor: new Executor({
      store,
      clock,
      newId: v7,
      newSalt: v7,
      log: silent,
      pause,
      refuse: refusals,
      snapshots: postgresSnapshots(pool),
    }),
    reads: new PostgresReadStore({ pool, reads }, models),
    vault: openVault(() => masterKeys),
    bus: new InProcessBus(),
    mails: [] as Mail[],
    merchant: randomUUID() as string,
    advance: (byMs: number) => void (now += byMs),
  }
}

export type WebhookFixture = Awaited<ReturnType<typeof webhookFixture>>

export interface ServiceOptions {
  readonly limits?: Partial<WebhookLimits>
  readonly egress?: Partial<EgressOptions>
  readonly chance?: number
  readonly log?: Log
  readonly observe?: (gauges: WebhookGauges) => void
  /** Default: every mail is kept in `mails`. */
  readonly mailer?: Mailer
}

/** Starts one webhook service on this fixture; it stops with the test, unless the test stops it before. */
export async function webhookService(
  t: Test,
  fixture: WebhookFixture,
  { limits, egress, chance = 0, mailer, log = silent, observe = () => undefined }: ServiceOptions = {},
) {
  const { pool, mails } = fixture
  const pools = guardedPools({
    allow: addressBlocks(['127.0.0.0/8']),
    connectTimeoutMs: 5_000,
    timeoutMs: 15_000,
    answerBytesMax: 4_096,
    poolsMax: 100,
    ...egress,
  })
  const service = await startWebhooks({
    ...fixture,
    newId: v7,
    log,
    observe,
    egress: pools,
    chance: () => chance,
    replays: new Replays(pool),
    mailer: mailer ?? { send: async (mail) => void mails.push(mail) },
    addressOf: async (merchant) => `${merchant}@example.com`,
    limits: { pollMs: 10, ...limits },
  })
  let closed: Promise<void> | undefined
  const close = () => (closed ??= service.close())
  // What hangs in an attempt at the end of a test is not waited for.
  t.teardown(() => Promise.all([close(), pools.close()]))
  return { close }
}

export function secretFor(id: string): string {
  return `whsec_${createHash('sha256').update(id).digest('base64')}`
}

function envelope({ merchant }: WebhookFixture) {
  return { merchant, livemode: false, actor: 'key:test', correlation: 'test' }
}

export async function register(
  fixture: WebhookFixture,
  url: string,
  enabledEvents: readonly string[] = ['*'],
): Promise<string> {
  const id = v7()
  const secret = secretFor(id)
  const data = {
    url,
    enabledEvents,
    sealedSecret: fixture.vault.seal(secret, secretContext(id)),
    secretLast4: secret.slice(-4),
  }
  await fixture.executor.send(
    webhookEndpoint,
    id,
    { type: 'RegisterEndpoint', data },
    { ...envelope(fixture), isNew: true },
  )
  return id
}

export async function command(
  fixture: WebhookFixture,
  id: string,
  message: Message<WebhookEndpointCommands>,
): Promise<void> {
  await fixture.executor.send(webhookEndpoint, id, message, envelope(fixture))
}

export async function endpointState(fixture: WebhookFixture, id: string) {
  const events = await fixture.store.readStream(`webhook_endpoint-${id}`, 0)
  return foldStored(webhookEndpoint, events) as { status: string }
}

export interface EventOptions {
  readonly type?: string
  readonly resource?: string
  readonly data?: object
}

/** Public events as the relay makes them, at the next positions of the log. */
export async function allHappened(
  fixture: WebhookFixture,
  options: readonly EventOptions[],
): Promise<PublicEvent[]> {
  const { merchant, clock } = fixture
  const at = clock().toISOString()
  const metadata = { ...envelope(fixture), at, version: 1 }
  const stored = options.map(() => ({ id: v7(), type: 'Sample', data: {}, metadata }))
  const { position: last } = await fixture.store.append(`sample-${v7()}`, -1, stored)
  const events = options.map(({ type = 'payout.paid', resource = 'payout/1', data = {} }, index) => {
    const id = publicEventId(stored[index]!.id)
    const payload = JSON.stringify({ id, type, created: Math.floor(clock().getTime() / 1_000), data })
    const position = last - options.length + 1 + index
    return { id, type, merchant, livemode: false, resource, position, sequence: position, payload }
  })
  await keepPublicEvents(
    fixture.pool,
    events.map((event) => ({ ...event, createdAt: at })),
  )
  return events
}

export async function happened(fixture: WebhookFixture, options: EventOptions = {}): Promise<PublicEvent> {
  return (await allHappened(fixture, [options]))[0]!
}

export async function published(fixture: WebhookFixture, options: EventOptions = {}): Promise<PublicEvent> {
  const event = await happened(fixture, options)
  await fixture.bus.publish([event])
  return event
}

export interface DeliveryRow {
  readonly merchant: string
  readonly endpoint: string
  readonly event: string
  readonly status: string
  readonly attempts: number
  readonly due_at: string | null
  readonly worker: string | null
  readonly last_status: number | null
  readonly last_answer: string | null
}

export async function deliveryRows({ pool }: WebhookFixture): Promise<readonly DeliveryRow[]> {
  return (await pool.query<DeliveryRow>('select * from deliveries order by id')).rows
}

/** Nothing is claimed and nothing is due: what is pending waits for its time. */
export async function settled(fixture: WebhookFixture): Promise<void> {
  await until(async () => {
    const rows = await deliveryRows(fixture)
    return rows.every(({ status, worker, due_at }) => {
      return (
        worker === null &&
        (status !== 'pending' || (due_at !== null && Date.parse(due_at) > fixture.clock().getTime()))
      )
    })
  })
}
