import type { Bench } from '../bench.ts'
import type { Measured } from './measured.ts'

/** Both sides of one row, ready to be measured in turns. */
export interface Contest {
  /** Runs once before all rounds: a service that runs for months is not measured in its first seconds. */
  warmUp?(): Promise<void>
  ours(round: number): Promise<Measured>
  peer(round: number): Promise<Measured>
  /** Throws when the measured work was not really done; what it returns is added to the note. */
  check?(): Promise<string>
  /** Why the target is missed, whatever value was reached; asked for after all rounds. */
  missed?(): string | undefined
  /** What readers of the table need to know; asked for after all rounds. */
  note(): string
  close(): Promise<void>
}

export interface Row {
  readonly name: string
  readonly ours: string
  readonly peer: string
  readonly unit: string
  /** Target for ours divided by the peer's. Left out: this row only explains another one. */
  readonly target?: { readonly least: number } | { readonly most: number }
  /** An absolute value that ours must reach as well. */
  readonly valueLeast?: number
  /** Upper limits for our value and the peer's. */
  readonly valueMost?: number
  readonly peerMost?: number
  /** Default: the run's own number. */
  readonly rounds?: number
  readonly prepare: (bench: Bench) => Promise<Contest>
}

/** This row cannot be measured on this machine; the message says what is missing. */
export class NotMeasuredError extends Error {
  override readonly name = 'NotMeasuredError'
}
