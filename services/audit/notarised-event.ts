import { commitmentOf } from '../../infra/transparency/commitment.ts'
import { hashBytes } from '../../infra/transparency/hashing.ts'
import type { MerchantOwner } from '../../packages/kernel/owner.ts'
import type { StoredEvent } from '../../packages/kernel/ports.ts'

/** Whoever changes an event may leave anything in it: what nothing can be committed to was not notarised. */
export function committed(event: StoredEvent): Buffer {
  try {
    return commitmentOf(event)
  } catch {
    return Buffer.alloc(hashBytes)
  }
}

/** The clock of a merchant in the sandbox may be ahead. */
export function mayBeAhead({ metadata }: StoredEvent): boolean {
  const { livemode = true } = metadata as Partial<MerchantOwner>
  return !livemode
}

export function nameOf({ id, type, stream, revision }: StoredEvent): string {
  return `event ${id} (${type}, ${stream} revision ${revision})`
}
