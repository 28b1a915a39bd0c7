import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { openEmbeddedStore } from '../../infra/event-store/embedded/store.ts'
import { openEventStoreDb } from '../../infra/event-store/eventstoredb/store.ts'
import { bookkeeping } from '../../infra/postgres/history/bookkeeping.ts'
import { withoutLeaders } from '../../infra/postgres/consumers/leader.ts'
import { noStream, type EventStore } from '../../packages/kernel/ports.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { nodeArguments } from '../support/processes/child-process.ts'
import { ikw, jsonOf, type Run, type Settings } from '../support/cli.ts'
import { Follower, ids, misplaced, newEvents, newStream } from '../support/event-store/event-store-samples.ts'
import { EventStoreDbPeer } from '../support/eventstoredb-peer/peer.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'

interface Copied {
  readonly written: number
  readonly agree: boolean
  readonly source: { readonly events: number; readonly streams: number; readonly sha256: string }
  readonly target: Copied['source']
  readonly differences: readonly { readonly stream: string; readonly problem: string }[]
}

async function peer(t: Test): Promise<EventStoreDbPeer> {
  const started = await EventStoreDbPeer.start()
  t.teardown(() => started.stop())
  return started
}

async function embedded(t: Test) {
  const database = await testDatabase(t)
  const store = await openEmbeddedStore(database)
  t.teardown(() => store.close())
  return { ...database, store }
}

/** Streams that are written side by side, so that their events are mixed in the log. */
async function fill(
  store: EventStore,
  { streams, rounds }: { streams: number; rounds: number },
): Promise<void> {
  const names = Array.from({ length: streams }, () => newStream('customer'))
  for (let round = 0; round < rounds; round++) {
    const expected = round === 0 ? noStream : 2 * round - 1
    await Promise.all(names.map((name) => store.append(name, expected, newEvents(2))))
  }
}

const key = { MASTER_KEY: Buffer.alloc(32, 1).toString('base64') }

function copy(t: Test, ...places: readonly string[]): Promise<Run> {
  return ikw({ ...key, DATA_DIR: temporaryDirectory(t) }, 'events', 'copy', '--json', ...places)
}

t.test('a copy that is killed goes on where it was, and doubles nothing', async (t) => {
  const { url, store } = await embedded(t)
  const target = await peer(t)
  await fill(store, { streams: 500, rounds: 10 })
  const settings = { ...key, PATH: process.env['PATH'], DATA_DIR: temporaryDirectory(t) }
  const places = ['--from', url, '--to', target.url, '--from-postgres', url]
  const program = [...nodeArguments('services/cli/main'), 'events', 'copy', ...places]
  for (const many of [2_000, 5_000]) {
    const child = spawn(process.execPath, program, { env: settings, stdio: 'ignore' })
    const ended = once(child, 'exit')
    await target.until(({ log }) => log.records.length > many)
    child.kill('SIGKILL')
    await ended
  }
  const begun = target.log.records.length
  t.ok(begun < 10_000, 'it was killed in the middle')
  const dependencies = openRuntime(configured({ POSTGRES_URL: url, EVENTSTORE_URL: target.url }))
  await t.rejects(dependencies, /not copied or restored to its end/, 'no service starts on half a history')

  const copied = jsonOf<Copied>(await copy(t, ...places))
  t.ok(copied.written > 0 && copied.written < 10_000)
  t.match(copied, { agree: true, source: { events: 10_000, streams: 500 }, target: copied.source })
  const again = jsonOf<Copied>(await copy(t, ...places))
  t.match(again, { agree: true, written: 0, target: copied.target })
})

function configured(places: Settings) {
  return readConfiguration({ LOG_LEVEL: 'error', DATA_DIR: '/nonexistent', ...key, ...places })
}

t.test('a copy has the same positions, wherever it is read from, and grows behind them', async (t) => {
  const { url, store } = await embedded(t)
  const target = await peer(t)
  await fill(store, { streams: 30, rounds: 60 })
  t.match(jsonOf(await copy(t, '--from', url, '--to', target.url)), { agree: true })
  const copied = await openEventStoreDb({ url: target.url })
  t.teardown(() => copied.close())
  const head = await store.head()
  t.equal(await copied.head(), head)
  for (const after of [0, 1, 999, 1_000, 1_001, 2_345, head - 1, head]) {
    const page = await copied.readAll(after, 700)
    t.same(ids(page), ids(await store.readAll(after, 700)), `behind ${after}`)
    t.same(
      misplaced(page).filter(({ position }) => position <= after),
      [],
    )
  }
  const follower = new Follower(copied, { after: 1_500, batchSize: 300 })
  t.teardown(() => follower.close())
  const { position } = await copied.append(newStream('customer'), noStream, newEvents(1))
  t.ok(position > head, 'later events stand behind all that were copied')
  await follower.until(({ through }) => through === position)
  t.equal(follower.events.length, head - 1_500 + 1)

  const back = await embedded(t)
  t.match(jsonOf(await copy(t, '--from', target.url, '--from-postgres', url, '--to', back.url)), {
    agree: true,
  })
  t.equal(await back.store.head(), position)
  t.same(ids(await back.store.readAll(1_500, 5_000)), ids(follower.events))
  t.same(ids(await back.store.readAll(0, 10, { categories: ['nobody'] })), [])
  const { position: next } = await back.store.append(newStream('customer'), noStream, newEvents(1))
  t.equal(next, position + 1)
})

t.test('a stream of large events is copied in appends that the server takes', async (t) => {
  const { url, store } = await embedded(t)
  const target = await peer(t)
  const events = newEvents(200).map((event) => ({ ...event, data: { text: 'é'.repeat(20_000) } }))
  await store.append(newStream('customer'), noStream, events)
  t.match(jsonOf(await copy(t, '--from', url, '--to', target.url)), { agree: true, written: 200 })
})

t.test('a target that holds something else is refused, and so is one that a service runs on', async (t) => {
  const [one, other] = [await embedded(t), await embedded(t)]
  await fill(one.store, { streams: 3, rounds: 2 })
  await fill(other.store, { streams: 2, rounds: 2 })
  const refused = { code: 2, stdout: '', stderr: /holds something else than a part of this history/ }
  t.match(await copy(t, '--from', one.url, '--to', other.url), refused)
  const target = await peer(t)
  const store = await openEventStoreDb({ url: target.url })
  await fill(store, { streams: 1, rounds: 1 })
  await store.close()
  t.match(await copy(t, '--from', one.url, '--to', target.url), refused)
  const elsewhere = await copy(t, '--from', 'mysql://host', '--to', target.url)
  t.match(elsewhere, { code: 2, stderr: /embedded, postgres:\/\/… or esdb:\/\/…/ })
  const led = withoutLeaders(one.pool, () => copy(t, '--from', one.url, '--to', target.url))
  t.match((await led)?.result, { code: 2, stderr: /stop every service/ })
})

t.test('a copy that was changed is not complete, and what differs is named', async (t) => {
  const [source, target] = [await embedded(t), await embedded(t)]
  await fill(source.store, { streams: 4, rounds: 5 })
  t.match(jsonOf(await copy(t, '--from', source.url, '--to', target.url)), { agree: true })
  const changed = (await source.store.readAll(0, 3))[2]!
  await target.pool.query(`update events set data = '{"number": 77}' where position = 3`)
  const run = await copy(t, '--from', source.url, '--to', target.url)
  t.equal(run.code, 1)
  const problem = { stream: changed.stream, position: 3, problem: 'not the same in the copy' }
  t.match(jsonOf(run), { agree: false, written: 0, differences: [problem] })
})

t.test('a service does not start on a log and a database of different histories', async (t) => {
  const [one, other] = [await embedded(t), await embedded(t)]
  const target = await peer(t)
  await fill(one.store, { streams: 3, rounds: 2 })
  t.match(jsonOf(await copy(t, '--from', one.url, '--to', target.url)), { agree: true })
  const start = async (postgres: string, store?: string) => {
    const runtime = await openRuntime(
      configured({ POSTGRES_URL: postgres, ...(store && { EVENTSTORE_URL: store }) }),
    )
    await runtime.close()
  }
  await t.rejects(start(other.url, target.url), /The database of POSTGRES_URL is new, but the log/)
  await other.pool.query(`insert into leaders (name, epoch, instance) values ('relay', 1, 'x')`)
  await t.rejects(start(other.url, target.url), /belong to different histories/)
  await t.resolves(start(one.url, target.url))
  await one.pool.query(`insert into checkpoints (name, position) values ('policies', 1000)`)
  await t.rejects(
    start(one.url, target.url),
    /The log ends at position 12, but its consumers have come to 1000/,
  )
})

t.test('every table is copied, rebuilt from the log, or belongs to running processes', async (t) => {
  const { pool } = await testDatabase(t)
  const { rows } = await pool.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public'`,
  )
  const others = [
    'audit_findings',
    'audit_state',
    'events',
    'history',
    'leaders',
    'migrations',
    'migrations_lock',
    'snapshots',
    'upkeep',
    'webhook_workers',
  ]
  const known = [...bookkeeping.map(({ name }) => name as string), ...others]
  t.same(rows.map(({ name }) => name).sort(), known.sort())
})
