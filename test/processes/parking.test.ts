import t, { type Test } from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { InProcessBus } from '../../infra/event-bus/in-process.ts'
import { requestRetry } from '../../infra/postgres/consumers/parked.ts'
import { publishMissing } from '../../infra/postgres/read-models/publication.ts'
import { PostgresTimers } from '../../infra/postgres/timers.ts'
import { refuse } from '../../packages/contract/refusals.ts'
import { record, Type } from '../../packages/contract/vocabulary.ts'
import { streamName, type Decider } from '../../packages/kernel/decider.ts'
import { stored, type EventsOf } from '../../packages/kernel/event-types.ts'
import { policy, to } from '../../packages/kernel/policy.ts'
import type { PublicEvent } from '../../packages/kernel/message-ports.ts'
import { projection } from '../../packages/kernel/projection.ts'
import { openRuntime, type Runtime } from '../../services/composition/dependencies.ts'
import { startProcesses } from '../../services/processes/main.ts'
import { startProjector } from '../../services/projector/main.ts'
import { startRelay } from '../../services/relay/main.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'

/**
 * The smallest family there is: a diary takes notes, and what is noted is counted in a tally of the same id.
 */
const noteEvents = { NoteTaken: stored(1, record({ number: Type.Integer() })) }
type NoteEvents = EventsOf<typeof noteEvents>
const tallyEvents = { NoteCounted: stored(1, record({ number: Type.Integer() })) }
type TallyEvents = EventsOf<typeof tallyEvents>

const diary: Decider<object, { TakeNote: { number: number } }, NoteEvents> = {
  category: 'diary',
  events: noteEvents,
  initial: () => ({}),
  decide: { TakeNote: ({ number }) => [{ type: 'NoteTaken', data: { number } }] },
  evolve: { NoteTaken: (state) => state },
}

/** What is poisonous to a consumer, until it has been mended. */
const poisoned = new Set<string>()

function taste(id: string, number: number): void {
  if (number === 1 && poisoned.has(id)) throw new Error(`${id} is poisoned`)
}

const tally: Decider<{ numbers: number[] }, { CountNote: { number: number } }, TallyEvents> = {
  category: 'tally',
  events: tallyEvents,
  initial: () => ({ numbers: [] }),
  decide: {
    CountNote({ number }, { numbers }, { id }) {
      if (numbers.includes(number)) return []
      if (number === 1 && poisoned.has(id)) refuse('resource_state_must_allow_it')
      return [{ type: 'NoteCounted', data: { number } }]
    },
  },
  evolve: { NoteCounted: ({ numbers }, { number }) => ({ numbers: [...numbers, number] }) },
}

const notes = projection<NoteEvents>()({
  name: 'notes',
  version: 1,
  columns: { diary: 'text', number: 'integer', place: 'bigint' },
  key: ['diary', 'number'],
  indexes: [],
  on: {
    NoteTaken: ({ id, data: { number } }) => {
      taste(id, number)
      return [{ put: { diary: id, number, place: ++places } }]
    },
  },
})

/** In which order rows were made. */
let places = 0

const counting = policy<NoteEvents>('counting', {
  NoteTaken: ({ id, data }) => [to(tally, id, { type: 'CountNote', data })],
})

interface Parts {
  readonly runtime: Runtime
}

async function openParts(t: Test): Promise<Parts> {
  const { url: POSTGRES_URL } = await testDatabase(t)
  const settings = { PORT: '0', DATA_DIR: temporaryDirectory(t), LOG_LEVEL: 'silent', POSTGRES_URL }
  const runtime = await openRuntime(readConfiguration(settings))
  t.teardown(async () => {
    poisoned.clear()
    await runtime.close()
  })
  return { runtime }
}

async function take({ runtime }: Parts, id: string, numbers: readonly number[]): Promise<void> {
  const { executor } = runtime.dependencies
  const envelope = { merchant: id, livemode: false, actor: 'test', correlation: 'test' }
  for (const number of numbers)
    await executor.sendAll(diary, id, [{ command: { type: 'TakeNote', data: { number } }, envelope }])
}

async function parkedStreams({ runtime }: Parts): Promise<readonly string[]> {
  const { body } = await runtime.health.answers['/readyz']!()
  const { parked } = JSON.parse(body) as { parked: { consumer: string; stream: string }[] }
  return parked.map(({ consumer, stream }) => `${consumer} | ${stream}`)
}

interface Consumer {
  readonly name: string
  /** Whom /readyz names for a diary. */
  readonly shownAs: (diary: string) => string
  readonly start: (t: Test, parts: Parts) => Promise<(diary: string) => Promise<readonly number[]>>
}

const consumers: readonly Consumer[] = [
  {
    name: 'the projector',
    shownAs: (id) => `read.notes_v1_1 | ${streamName('diary', id)}`,
    async start(t, { runtime }) {
      const {
        postgres: { pool },
        dependencies: { store, log },
      } = runtime
      await publishMissing(pool, [notes], '')
      const projector = await startProjector({
        pool,
        store,
        models: [notes],
        deciders: [diary, tally],
        dependents: '',
        log,
      })
      t.teardown(() => projector.close())
      return async (id) => {
        const { rows } = await pool.query<{ number: number }>(
          'select number from read.notes where diary = $1 order by place',
          [id],
        )
        return rows.map(({ number }) => number)
      }
    },
  },
  {
    name: 'policies',
    shownAs: (id) => `policies ${streamName('tally', id)} | ${streamName('diary', id)}`,
    async start(t, { runtime }) {
      const {
        postgres: { pool },
        dependencies,
      } = runtime
      const timers = new PostgresTimers(pool)
      const running = await startProcesses({
        dependencies,
        pool,
        deciders: [diary, tally],
        processes: [{ policies: [counting] }],
        timers,
      })
      t.teardown(() => running.close())
      return async (id) => {
        const events = await dependencies.store.readStream(streamName('tally', id), 0)
        return events.map(({ data }) => (data as TallyEvents['NoteCounted']).number)
      }
    },
  },
  {
    name: 'the relay',
    shownAs: (id) => `relay ${streamName('diary', id)} | ${streamName('diary', id)}`,
    async start(t, { runtime }) {
      const {
        postgres: { pool },
        dependencies: { store, log },
        snapshots,
      } = runtime
      const bus = new InProcessBus()
      const told: PublicEvent[] = []
      await bus.subscribe('test', async (events) => void told.push(...events))
      const source = {
        decider: diary,
        resource: 'diary',
        typeOf: () => 'payout.created' as const,
        view: (id: string, _: never, { data }: { data: object }) => {
          taste(id, (data as { number: number }).number)
          return data
        },
      }
      const relay = await startRelay({ pool, store, snapshots, bus, sources: [source], log })
      t.teardown(() => relay.close())
      return async (id) =>
        told
          .filter(({ resource }) => resource === `diary/${id}`)
          .map(({ payload }) => (JSON.parse(payload) as { data: { number: number } }).data.number)
    },
  },
]

const all = [0, 1, 2, 3]

for (const { name, shownAs, start } of consumers) {
  t.test(
    `a poisoned event parks its stream and not ${name}; a retry brings the stream up to date in order`,
    async (t) => {
      const parts = await openParts(t)
      const { pool } = parts.runtime.postgres
      const seen = await start(t, parts)
      const reaching = (id: string, numbers: readonly number[]) => {
        return eventually(
          () => seen(id),
          (now) => now.length >= numbers.length,
        ).then((now) => t.strictSame(now, numbers))
      }
      const [first, second, well] = [
        parts.runtime.dependencies.newId(),
        parts.runtime.dependencies.newId(),
        parts.runtime.dependencies.newId(),
      ]
      const parked = (ids: readonly string[]) =>
        eventually(
          () => parkedStreams(parts),
          (streams) => {
            return [first, second, well].every((id) => streams.includes(shownAs(id)) === ids.includes(id))
          },
        )
      poisoned.add(first).add(second)
      for (const id of [first, second, well]) await take(parts, id, [0, 1, 2])
      await reaching(well, [0, 1, 2])
      await parked([first, second])
      t.strictSame(
        [await seen(first), await seen(second)],
        [[0], [0]],
        'later events of a parked stream wait',
      )

      poisoned.delete(second)
      await requestRetry(pool)
      await reaching(second, [0, 1, 2])
      await parked([first])
      t.strictSame(
        await seen(first),
        [0],
        'what is still poisoned stays parked, and keeps no other from its retry',
      )

      poisoned.delete(first)
      await take(parts, first, [3])
      await requestRetry(pool, streamName('diary', first))
      await reaching(first, all)
      await parked([])
      await take(parts, second, [3])
      await reaching(second, all)
    },
  )
}
