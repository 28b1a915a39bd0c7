import { randomUUID } from 'node:crypto'
import t from 'tap'
import { Appender } from '../../infra/event-store/eventstoredb/appender.ts'
import { proposedEvents, storedEvent } from '../../infra/event-store/eventstoredb/messages/events.ts'
import { IntactStreams } from '../../infra/event-store/eventstoredb/streams/intact.ts'
import { OwnStreams } from '../../infra/event-store/eventstoredb/streams/own.ts'
import type { ServerEvent } from '../../infra/event-store/eventstoredb/messages/read.ts'
import { RevisionOffsets } from '../../infra/event-store/eventstoredb/streams/revision-offsets.ts'
import { openEventStoreDbTarget } from '../../infra/event-store/eventstoredb/target.ts'
import { StreamNames } from '../../infra/event-store/eventstoredb/streams/names.ts'
import { SeenLog } from '../../infra/event-store/seen-log.ts'
import { CannotCopyError, copyHistory } from '../../infra/history/copy.ts'
import { historyOf } from '../../infra/history/store-pages.ts'
import { noStream } from '../../packages/kernel/ports.ts'
import { newEvents, newStream } from '../support/event-store/event-store-samples.ts'
import { EventStoreDbPeer } from '../support/eventstoredb-peer/peer.ts'
import { peerAndStore } from '../support/event-store/eventstoredb.ts'
import { lawOver } from '../support/law.ts'

const stream = 'payout-1'
const names = new StreamNames({ prefix: '', categories: undefined })
const history = { positionOf: (commit: number) => commit }

class ReachedTheServerError extends Error {
  override readonly name = 'ReachedTheServerError'
}

interface Breaking {
  /** So many of the next reads end with a connection that has broken meanwhile. */
  readonly breaks: number
  /** Events that are in the stream. */
  readonly has: number
}

/** An appender over a line that breaks while a stream is read, and that leads to no append. */
function appenderOver({ breaks, has }: Breaking): Appender {
  const events: readonly ServerEvent[] = proposedEvents(stream, newEvents(has)).map(
    ({ id, type, data, metadata }, revision) => ({
      ...{ stream, revision, id, type, commit: 10 + revision, isJson: true },
      data: Buffer.from(data),
      metadata: Buffer.from(metadata),
    }),
  )
  const seen = new SeenLog({ engine: 'EventStoreDB', onLost: (error) => t.fail(error.message) })
  const offsets = new RevisionOffsets(() => seen.doubts)
  const nothing = async () => undefined
  const own = new OwnStreams({
    read: async (_, { from }) => {
      if (seen.doubts < breaks) seen.doubt()
      return events.slice(from)
    },
    stored: (event) => storedEvent(event, { names, history }),
    ...{ offsets, requireVisible: nothing, requireSameLog: nothing },
  })
  const calls = { openAppends: () => Promise.reject(new ReachedTheServerError()) }
  const intact = new IntactStreams({ metadataOf: nothing, shortLived: ['payout'] })
  const reader = { requireSameLog: nothing }
  return new Appender({ calls, names, history, intact, own, offsets, reader, seen, timeoutMs: 1, lanes: 1 })
}

t.test('what may be written is never called a conflict, however often the line breaks', async (t) => {
  const rows = [
    { breaks: 0, has: 1, name: 'VersionConflictError' },
    { breaks: 0, has: 2, name: 'ReachedTheServerError' },
    { breaks: 7, has: 1, name: 'VersionConflictError' },
    { breaks: 7, has: 2, name: 'ReachedTheServerError' },
    { breaks: Infinity, has: 2, name: 'OutcomeUnknownError' },
  ]
  await lawOver(t, rows, async ({ breaks, has, name }) => {
    const appending = appenderOver({ breaks, has }).append(stream, 1, newEvents(1))
    await t.rejects(appending, { name }, `${breaks} breaks, ${has} events`)
  })
})

t.test('a copy whose line breaks says so, and goes on where it has ended', async (t) => {
  const { store } = await peerAndStore(t)
  const streams = Array.from({ length: 40 }, () => newStream('payout'))
  for (const expected of [noStream, 1])
    for (const stream of streams) await store.append(stream, expected, newEvents(2))
  const source = { id: randomUUID(), ...historyOf(store) }
  await lawOver(t, [1, 13, 80], async (breakAt) => {
    const peer = await EventStoreDbPeer.start()
    t.teardown(() => peer.stop())
    const progress = { onWritten: () => undefined, onCompared: () => undefined }
    const broken = await openEventStoreDbTarget({ url: peer.url })
    const append = peer.log.append.bind(peer.log)
    let appends = 0
    peer.log.append = (name, ...rest) => {
      const outcome = append(name, ...rest)
      if (name.startsWith('payout') && ++appends === breakAt) peer.line.cut()
      return outcome
    }
    const copying = copyHistory(source, broken, progress)
    await t.rejects(copying, { name: CannotCopyError.name, message: /copy again/ })
    await broken.close()
    const again = await openEventStoreDbTarget({ url: peer.url })
    const copied = await copyHistory(source, again, progress)
    await again.close()
    t.match(copied, { differences: [], source: copied.target })
    const kept = peer.log.records.filter(({ stream }) => streams.includes(stream))
    t.equal(kept.length, 160, 'each event once')
  })
})
