import { holdOwners } from '../../packages/domain/index.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { parseStreamName } from '../../packages/kernel/decider.ts'
import type { Envelope } from '../../packages/kernel/envelope.ts'
import type { DueTimer } from '../../packages/kernel/ports/reads.ts'
import type { Process, Tools } from './runner/process.ts'

/** Money that was held for a request that came to nothing, or that lost a race against another one. */
export const holdProcess: Process = { timers: { hold_unclaimed: giveBackUnclaimed } }

/**
 * The stream that the hold was placed for decides who was first, the request or this. Once it has decided it
 * never claims this hold, so the money is given back, and the end of the hold removes the timer.
 */
async function giveBackUnclaimed(timer: DueTimer, { dependencies }: Tools): Promise<undefined> {
  const [holdId = '', currency = ''] = timer.subject.split('.')
  const { merchant, livemode } = timer
  const { executor, store, newId } = dependencies
  const id = bookId(merchant, livemode, currency)
  const { holds } = (await executor.current(book, id)).state
  const hold = holds[holdId]
  if (!hold) return
  const { category, id: owner } = parseStreamName(hold.owner)
  const kind = holdOwners.get(category)
  if (!kind) throw new Error(`nobody knows whether ${hold.owner} claims hold ${holdId}`)
  const envelope: Envelope = { merchant, livemode, actor: 'timer', correlation: newId() }
  const command = kind.abandon(currency)
  const { state } = await executor.sendAll(kind.decider, owner, [{ command, envelope }])
  // A stream claims one hold in a book, which has the stream's id: all others are nobody's.
  if (owner === holdId && kind.claims(state, currency)) return
  const [begun] = await store.readStream(hold.owner, 0, 1)
  const cause = { policy: 'unclaimed_holds', position: begun!.position, event: begun!.id }
  const giveBack = { type: 'GiveBackHold', data: { holdId } } as const
  await executor.send(book, id, giveBack, { ...envelope, cause })
}
