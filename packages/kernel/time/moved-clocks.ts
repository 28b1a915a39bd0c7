import type { Owner } from '../owner.ts'

/** Merchants whose sandbox clock is ahead. */
export interface MovedClocks {
  /** Until then another process may have moved the owner's clock. `undefined`: none has. */
  readonly known: (owner: Owner) => Promise<void> | undefined
  /** Takes over what this process has just written, unless something newer is known. */
  learn(merchant: string, moved: { readonly aheadMs: number; readonly revision: number }): void
  ahead(): readonly MovedClock[]
  /** Follows the log from now on, so that clocks need not be looked up one by one. */
  follow(): Promise<void>
  close(): Promise<void>
}

export interface MovedClock {
  readonly merchant: string
  /** The time there. */
  readonly now: Date
}
