import type { Owner } from './owner.ts'

/** Merchants whose sandbox clock is ahead. */
export interface MovedClocks {
  /** Until then another process may have moved the owner's clock. `undefined`: none has. */
  readonly known: (owner: Owner) => Promise<void> | undefined
  /** Takes over what this process has just written, unless something newer is known. */
  learn(merchant: string, moved: { readonly aheadMs: number; readonly revision: number }): void
  ahead(): readonly MovedClock[]
  /** Learns from now on who moves the clock, so that nobody else has to be looked up. */
  follow(): Promise<void>
  close(): Promise<void>
}

export interface MovedClock {
  readonly merchant: string
  /** The time there. */
  readonly now: Date
}
