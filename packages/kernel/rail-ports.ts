import type { Subscription } from './ports.ts'

/** The port of operators, acquirers and banks. */

export type RailMethod =
  | {
      readonly type: 'mobile_money'
      readonly country: string
      readonly operator: string
      readonly msisdn: string
    }
  | { readonly type: 'card'; readonly token: string }
  | {
      readonly type: 'bank'
      readonly bankCode: string
      readonly accountNumber: string
      readonly accountName: string
    }

export interface RailRequest {
  /**
   * Ours, unique per operation: the payout's id, the confirmation attempt's id, the refund's id. A rail
   * executes it at most once.
   */
  readonly reference: string
  readonly kind: 'collection' | 'disbursement' | 'refund'
  readonly merchant: string
  readonly livemode: boolean
  readonly amountMinor: number
  readonly currency: string
  readonly method: RailMethod
  /** Where a payer's browser is sent back to, when the rail redirects. */
  readonly returnUrl?: string
}

export type RailState =
  /** The operator guarantees that it has not executed and will not execute this reference. */
  | { readonly state: 'never_received' }
  | { readonly state: 'pending' }
  | { readonly state: 'redirect'; readonly url: string }
  | { readonly state: 'succeeded' }
  | { readonly state: 'failed'; readonly code: string; readonly message: string }
  /** Money came back after it had arrived. */
  | { readonly state: 'returned' }

export interface RailCallback {
  readonly reference: string
  readonly kind: RailRequest['kind']
  readonly merchant: string
  readonly livemode: boolean
  readonly result: RailState
}

/** The call was made, but the rail did not answer in time: it may have been executed. */
export class RailTimeoutError extends Error {
  override readonly name = 'RailTimeoutError'
}

/** The rail said before doing anything that it does nothing now. */
export class RailUnavailableError extends Error {
  override readonly name: string = 'RailUnavailableError'
}

/** The same of an operation that was submitted with a rail which is configured no more. */
export class RailMissingError extends RailUnavailableError {
  override readonly name = 'RailMissingError'
}

/** Which rail an operation goes by. */
export type RailRoute = Pick<RailRequest, 'livemode' | 'method'>

/** What is known of a route: a payer may not have named a method yet. */
export interface RailChoice {
  readonly livemode: boolean
  readonly method?: RailMethod['type']
  readonly country?: string
  readonly operator?: string
}

export interface PaymentRail {
  /** Throws RailTimeoutError (outcome unknown) or RailUnavailableError (surely not executed). */
  submit(request: RailRequest): Promise<RailState>
  /** What became of a reference. Throws RailTimeoutError when the operator does not answer. */
  status(reference: string, route: RailRoute): Promise<RailState>
  health(route: RailRoute): Promise<'up' | 'degraded' | 'down'>
  /** Callbacks come at least once, in any order; one whose handler rejects comes again. */
  onCallback(handle: (callback: RailCallback) => Promise<void>): Subscription
}

/** Every rail as one. */
export interface PaymentRails extends PaymentRail {
  /** Whether there is a rail for this at all. */
  serves(choice: RailChoice): boolean
}

/** What only the simulated operators have: a way to play the operator. */
export interface SandboxRail extends PaymentRail {
  /**
   * Ends an operation as asked, without a callback. Answers what the operator reports from then on: another
   * result when the operation had ended before.
   */
  resolve(reference: string, result: RailState): Promise<RailState>
}
