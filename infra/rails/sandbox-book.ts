import type { RailCallback, RailRequest, RailState } from '../../packages/kernel/ports/rails.ts'

/** A step that an operation takes on its own. */
export interface Step {
  readonly state: RailState
  /** After the submission, or after the last step. */
  readonly afterMs: number
  /** How many callbacks the operator makes for it. */
  readonly callbacks: number
}

/** What an operation does from its submission on. */
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
  /** How many callbacks of this operation have been tried, this one included. */
  readonly attempts: number
}

export interface CalledBack {
  readonly reference: string
  /** Identifies the claim: after another process has taken over, it settles nothing. */
  readonly attempts: number
  readonly accepted: boolean
  /** When the next one comes, if one is owed. */
  readonly nextAt: Date
}

/** The simulated operators' own records. Several processes may use them at once. */
export interface SandboxBook {
  /** Records the operation, or only counts the call when its reference is known. Returns its state. */
  submit(submission: Submission): Promise<RailState>
  find(reference: string): Promise<KnownOperation | undefined>
  /** Takes the steps that are due, of one operation or of all; returns how many. */
  advance(due: { readonly now: Date; readonly limit: number; readonly reference?: string }): Promise<number>
  /** Claims due callbacks; no other process gets them until then. */
  claimCallbacks(claim: {
    readonly now: Date
    readonly until: Date
    readonly limit: number
  }): Promise<readonly ClaimedCallback[]>
  settleCallbacks(callbacks: readonly CalledBack[]): Promise<void>
  /**
   * Ends an operation that has not ended, without its remaining steps and callbacks. Only a success can end
   * again, by a return. Returns the resulting state.
   */
  resolve(reference: string, state: RailState, now: Date): Promise<RailState>
}
