import type pg from 'pg'
import type { Vault } from '../../packages/kernel/ports.ts'
import type { BenchMerchant } from './merchants.ts'

/** What is multiplied, for whom, and how often. */
export interface Seed {
  readonly pool: pg.Pool
  /** Seals with the keys of the subjects that the copies are about. */
  readonly vault: Vault
  readonly merchants: readonly BenchMerchant[]
  readonly payouts: number
  /** Each payout goes to a number of its own: if sealed, with a key of its own. Default: all to the same. */
  readonly toEachNumber?: boolean
}

export interface Range {
  /** Position of the last event before those of the payouts. */
  readonly head: number
  readonly from: number
  readonly to: number
}
