import { status } from '@grpc/grpc-js'
import t from 'tap'
import { isPassing } from '../../services/composition/observing/failures.ts'
import { noStream } from '../../packages/kernel/ports.ts'
import { newCategory, newEvents, newStream } from '../support/event-store/event-store-samples.ts'
import type { AppendFault } from '../support/eventstoredb-peer/peer.ts'
import { peerAndStore } from '../support/event-store/eventstoredb.ts'

const { INVALID_ARGUMENT, PERMISSION_DENIED, UNIMPLEMENTED, UNAUTHENTICATED } = status

const call = (code: status, details: string): AppendFault => ({
  fault: 'refused',
  code,
  details,
  written: false,
})
const one = (code: status, type = ''): AppendFault => ({ fault: 'not taken', code, type, message: 'so' })

interface Refusal {
  readonly fault: AppendFault
  readonly says: RegExp
  /** Whoever consumes the log waits until an administrator has mended it. */
  readonly isWaitedFor: boolean
}

const unknownUser = /^EventStoreDB does not accept the user or the password of EVENTSTORE_URL$/
const noRight = /^streams may not be written to by the user of EVENTSTORE_URL: see/

const refusals: Readonly<Record<string, Refusal>> = {
  'a call, because the user has no right': {
    fault: call(PERMISSION_DENIED, 'Access Denied'),
    says: noRight,
    isWaitedFor: true,
  },
  'a call, because the password is another one now': {
    fault: call(UNAUTHENTICATED, 'Received HTTP status code 401'),
    says: unknownUser,
    isWaitedFor: true,
  },
  'a call that it does not know': {
    fault: call(UNIMPLEMENTED, 'no such method'),
    says: /^EventStoreDB does not take appends: .*no such method$/,
    isWaitedFor: false,
  },
  'a call as invalid': {
    fault: call(INVALID_ARGUMENT, 'the message is broken'),
    says: /^EventStoreDB does not take appends: .*the message is broken$/,
    isWaitedFor: false,
  },
  'an append, because the user has no right': {
    fault: one(PERMISSION_DENIED, 'AccessDenied'),
    says: noRight,
    isWaitedFor: true,
  },
  'an append without a right, by the code alone': {
    fault: one(PERMISSION_DENIED),
    says: noRight,
    isWaitedFor: true,
  },
  'an append of a user it no longer knows': {
    fault: one(UNAUTHENTICATED),
    says: unknownUser,
    isWaitedFor: true,
  },
  'an append as bad': {
    fault: one(INVALID_ARGUMENT, 'BadRequest'),
    says: /^EventStoreDB does not take an append to \S+: BadRequest so$/,
    isWaitedFor: false,
  },
  'an append as invalid, by the code alone': {
    fault: one(INVALID_ARGUMENT),
    says: /^EventStoreDB does not take an append to \S+: so$/,
    isWaitedFor: false,
  },
}

for (const [what, { fault, says, isWaitedFor }] of Object.entries(refusals)) {
  t.test(`when the server refuses ${what}, then that is said, and nothing is written`, async (t) => {
    const { peer, store } = await peerAndStore(t)
    const [stream, events] = [newStream(newCategory()), newEvents(1)]
    peer.failNextAppend(fault)
    const error = (await store.append(stream, noStream, events).catch((error: unknown) => error)) as Error
    t.match(error.message, says)
    t.equal(isPassing(error), isWaitedFor)
    t.same(await store.readStream(stream, 0), [])
    t.match(await store.append(stream, noStream, events), { revision: 0 }, 'it is taken later')
  })
}

t.test('given an append in flight, when a later one is invalid, then its outcome is unknown', async (t) => {
  const { peer, store } = await peerAndStore(t, { lanes: 2 })
  const append = () => store.append(newStream(newCategory()), noStream, newEvents(1))
  peer.failNextAppend({ fault: 'answer late', until: new Promise<void>(() => {}) })
  const early = append()
  await peer.until(({ appends }) => appends === 1)
  // Over the other call.
  await append()
  peer.failNextAppend(call(INVALID_ARGUMENT, 'the message is broken'))
  const unknown = { status: 'rejected', reason: { name: 'OutcomeUnknownError' } }
  t.match(await Promise.allSettled([early, append()]), [unknown, unknown])
})

t.test('when the rights are taken away on the way, then only what was sent before is unknown', async (t) => {
  const { peer, store } = await peerAndStore(t, { lanes: 1 })
  const stream = newStream(newCategory())
  await store.append(stream, noStream, newEvents(1))
  const events = newEvents(1)
  for (const _ of [1, 2]) peer.failNextAppend(call(UNAUTHENTICATED, 'Received HTTP status code 401'))
  await t.rejects(store.append(stream, 0, events), { name: 'OutcomeUnknownError' })
  await t.rejects(store.append(stream, 0, events), { name: 'EventStoreRightsError', message: unknownUser })
})
