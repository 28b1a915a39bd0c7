import type { RailCallback, RailRequest, RailState } from '../../packages/kernel/rail-ports.ts'

/** Something that happens to an operation by itself. */
export interface Step {
  readonly state: RailState
  /** After the submission, or after the step before. */
  readonly afterMs: number
  /** How often the operator says so. */
  readonly callbacks: number
}

/** What an operation does from the moment at which it is submitted. */
export interface Script {
  readonly state: RailState
  readonly steps: readonly Step[]
  /** False: while it is pending, the operator answers no question about it. */
  readonly answers: boolean
}

export interface Submission {
  readonly request: RailRequest
  readonly script: Script
  readonly now: Date
}

export interface KnownOperation {
  readonly state: RailState
  /** When the next step comes: RFC 3339. */
  readonly dueAt: string | null
  readonly answers: boolean
}

export interface ClaimedCallback extends RailCallback {
  /** How often this operation's callbacks have been tried, with this time. */
  readonly attempts: number
}

export interface CalledBack {
  readonly reference: string
  /** Of the claim: a claim that somebody else has taken over settles nothing. */
  readonly attempts: number
  readonly accepted: boolean
  /** When the next one comes, if one is owed. */
  readonly nextAt: Date
}

/** The operators' own book. Several processes may use it at once. */
export interface SandboxBook {
  /** Enters an operation, or only counts the call when its reference is known. Answers its state. */
  submit(submission: Submission): Promise<RailState>
  find(reference: string): Promise<KnownOperation | undefined>
  /** Takes the steps that are due, of one operation or of all; answers how many it took. */
  advance(due: { readonly now: Date; readonly limit: number; readonly reference?: string }): Promise<number>
  /** Callbacks that are due; nobody else gets them until then. */
  claimCallbacks(claim: {
    readonly now: Date
    readonly until: Date
    readonly limit: number
  }): Promise<readonly ClaimedCallback[]>
  settleCallbacks(callbacks: readonly CalledBack[]): Promise<void>
  /**
   * Ends what has not ended, without its steps and callbacks. Only a success can end again, by a return.
   * Answers the state it has then.
   */
  resolve(reference: string, state: RailState, now: Date): Promise<RailState>
}
