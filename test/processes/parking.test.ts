import { Type } from '../../packages/contract/vocabulary.ts'
import t, { type Test } from 'tap'
import { InProcessBus } from '../../infra/event-bus/in-process.ts'
import { requestRetry } from '../../infra/postgres/consumers/parked.ts'
import { publishMissing, requestNewGeneration } from '../../infra/postgres/read-models/publication.ts'
import { streamName } from '../../packages/kernel/decider.ts'
import type { AnyPolicy } from '../../packages/kernel/policy.ts'
import type { PublicEvent } from '../../packages/kernel/ports/messages.ts'
import type { ReadModel } from '../../packages/kernel/projection.ts'
import { startProcesses } from '../../services/processes/runner/main.ts'
import { startProjector } from '../../services/projector/main.ts'
import { startRelay } from '../../services/relay/main.ts'
import {
  counting,
  countingElsewhere,
  diary,
  notesOfThrowing,
  notesOutOfRange,
  poisoned,
  tally,
  taste,
  type TallyEvents,
} from '../support/load/diary.ts'
import { eventually } from '../support/eventually.ts'
import { openParts, parkedStreams, take, type Parts } from '../support/event-store/parking.ts'

interface Consumer {
  readonly name: string
  /** Whom /readyz names for a diary. */
  readonly shownAs: (diary: string) => string
  readonly start: (t: Test, parts: Parts) => Promise<(diary: string) => Promise<readonly number[]>>
}

/** What a projector shows of a diary. */
function startProjecting(model: ReadModel): Consumer['start'] {
  return async (t, { runtime }) => {
    const {
      postgres: { pool },
      dependencies: { store, log },
    } = runtime
    await publishMissing(pool, [model], '')
    const projector = await startProjector({
      pool,
      store,
      models: [model],
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
  }
}

/** What a policy has counted of a diary, in the tally that `tallyOf` names. */
function startPolicy(policies: readonly AnyPolicy[], tallyOf: (diary: string) => string): Consumer['start'] {
  return async (t, { runtime }) => {
    const {
      postgres: { pool },
      dependencies,
    } = runtime
    const running = await startProcesses({
      dependencies,
      pool,
      deciders: [diary, tally],
      policies,
      processes: [],
    })
    t.teardown(() => running.close())
    return async (id) => {
      const events = await dependencies.store.readStream(streamName('tally', tallyOf(id)), 0)
      return events.map(({ data }) => (data as TallyEvents['NoteCounted']).number)
    }
  }
}

const consumers: readonly Consumer[] = [
  {
    name: 'the projector whose handler throws',
    shownAs: (id) => `read.notes_v1_1 | ${streamName('diary', id)}`,
    start: startProjecting(notesOfThrowing),
  },
  {
    name: 'the projector whose row PostgreSQL refuses',
    shownAs: (id) => `read.notes_v1_1 | ${streamName('diary', id)}`,
    start: startProjecting(notesOutOfRange),
  },
  {
    name: 'policies whose command is refused',
    shownAs: (id) => `policies ${streamName('tally', id)} | ${streamName('diary', id)}`,
    start: startPolicy([counting], (id) => id),
  },
  {
    name: 'policies one of which throws',
    shownAs: (id) => `policies counting_elsewhere of ${id}.test | ${streamName('diary', id)}`,
    start: startPolicy([countingElsewhere], (id) => `all ${id}`),
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
        scope: 'payouts.read' as const,
        types: { 'payout.created': 'A test' },
        data: Type.Object({}),
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
    `a poisoned event parks what it concerns, not ${name}; a retry brings it up to date in order`,
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

t.test('a row that PostgreSQL refuses parks its stream while read models are built anew', async (t) => {
  const parts = await openParts(t)
  const { pool } = parts.runtime.postgres
  const seen = await startProjecting(notesOutOfRange)(t, parts)
  const ids = [parts.runtime.dependencies.newId(), parts.runtime.dependencies.newId()] as const
  const [ill, well] = ids
  for (const id of ids) await take(parts, id, [0, 1, 2])
  await eventually(
    () => seen(well),
    (now) => now.length === 3,
  )
  poisoned.add(ill)
  await requestNewGeneration(pool, notesOutOfRange)
  const shown = await eventually(
    () => parkedStreams(parts),
    (streams) => streams.length > 0,
  )
  t.strictSame(shown, [`read.notes_v1_2 | ${streamName('diary', ill)}`])
  const rows = await eventually(
    () => seen(ill),
    (now) => now.length === 1,
  )
  t.strictSame([rows, await seen(well)], [[0], [0, 1, 2]])
})
