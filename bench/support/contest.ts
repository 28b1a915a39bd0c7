import type { Bench } from './bench.ts'
import type { Measured } from './measured.ts'

/** Both sides of one row, ready to be measured in turns. */
export interface Contest {
  /** Once before all rounds: what runs for months is not measured in its first seconds. */
  warmUp?(): Promise<void>
  ours(round: number): Promise<Measured>
  peer(round: number): Promise<Measured>
  /** Throws when what was measured was not done; what it answers is added to the note. */
  check?(): Promise<string>
  /** What the reader of the table has to know; asked for when all rounds are over. */
  note(): string
  close(): Promise<void>
}

export interface Row {
  readonly name: string
  readonly ours: string
  readonly peer: string
  readonly unit: string
  /** Ours divided by the peer's. Left out: nothing is to be reached, the row explains another. */
  readonly target?: { readonly least: number } | { readonly most: number }
  /** A value that ours must reach besides. */
  readonly valueLeast?: number
  /** Values that ours and the peer's may reach at most. */
  readonly valueMost?: number
  readonly peerMost?: number
  /** Left out: as many as the run says. */
  readonly rounds?: number
  readonly prepare: (bench: Bench) => Promise<Contest>
}

/** This row cannot be measured on this machine; the message says what is missing. */
export class NotMeasuredError extends Error {
  override readonly name = 'NotMeasuredError'
}
