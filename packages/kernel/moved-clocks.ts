import type { MerchantOwner } from './owner.ts'

/** Merchants whose time in the sandbox is ahead of everybody's. */
export interface MovedClocks {
  /** Until then another process may have moved the owner's time. `undefined`: none has. */
  readonly known: (owner: MerchantOwner) => Promise<void> | undefined
  /** Takes what this process has just written, if it is not older than what is known. */
  learn(merchant: string, moved: { readonly aheadMs: number; readonly revision: number }): void
  ahead(): readonly MovedClock[]
  /** Learns from now on who moves the clock, so that nobody else has to be looked up. */
  follow(): Promise<void>
  close(): Promise<void>
}

export interface MovedClock {
  readonly merchant: string
  /** What time it is there. */
  readonly now: Date
}
