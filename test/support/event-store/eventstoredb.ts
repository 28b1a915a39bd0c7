import type { Test } from 'tap'
import { openEventStoreDb, type EventStoreDbOptions } from '../../../infra/event-store/eventstoredb/store.ts'
import { noStream, type Appended, type EventStore, type NewEvent } from '../../../packages/kernel/ports.ts'
import { EventStoreDbPeer } from '../eventstoredb-peer/peer.ts'

type StoreOptions = Omit<EventStoreDbOptions, 'url'>

export interface PeerAndStore {
  readonly peer: EventStoreDbPeer
  readonly store: EventStore
}

/** A server that can be made to fail, and a store on it. Both end with the test. */
export async function peerAndStore(t: Test, options: StoreOptions = {}): Promise<PeerAndStore> {
  const peer = await EventStoreDbPeer.start()
  t.teardown(() => peer.stop())
  const store = await openEventStoreDb({ url: peer.url, ...options })
  t.teardown(() => store.close())
  // That which looks for the right to write.
  peer.appends = 0
  return { peer, store }
}

export interface Gate {
  readonly runtime: Promise<void>
  readonly open: () => void
}

export function newGate(): Gate {
  let open = () => {}
  const runtime = new Promise<void>((resolve) => (open = resolve))
  return { runtime, open }
}

/** As every appender does: the same events again until the outcome is known. */
export function appendUntilKnown(
  store: EventStore,
  stream: string,
  { expected = noStream, events }: { readonly expected?: number; readonly events: readonly NewEvent[] },
): Promise<Appended> {
  return untilItWorks(() => store.append(stream, expected, events))
}

export async function untilItWorks<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await attempt()
    } catch {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}
