import { Refusal } from '../../../packages/contract/refusals.ts'
import type { PlaceHold } from '../../../packages/domain/ledger/commands.ts'
import type { EventStore } from '../../../packages/kernel/ports.ts'

/**
 * Holds money for a stream that was found empty. A book that has forgotten too many ended holds since then
 * cannot tell whether this hold is one of them: then the stream is read again, and nothing is held if it has
 * begun.
 */
export async function placeHold(
  store: Pick<EventStore, 'head' | 'readStream'>,
  { owner }: Pick<PlaceHold, 'owner'>,
  send: (options?: { readonly asOf: number }) => Promise<unknown>,
): Promise<void> {
  try {
    await send()
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason !== 'resource_must_not_have_changed') throw error
    const asOf = await store.head()
    if ((await store.readStream(owner, 0, 1)).length === 0) await send({ asOf })
  }
}
