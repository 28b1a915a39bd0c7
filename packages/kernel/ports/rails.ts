import type { Subscription } from '../ports.ts'

/** The port to operators, acquirers and banks. */

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
   * Ours, unique per operation: the id of the payout, confirmation attempt or refund. A rail executes it at
   * most once.
   */
  readonly reference: string
  readonly kind: 'collection' | 'disbursement' | 'refund'
  readonly merchant: string
  readonly livemode: boolean
  readonly amountMinor: number
  readonly currency: string
  readonly method: RailMethod
  /** Where the payer's browser returns to after a redirect. */
  readonly returnUrl?: string
}

export type RailState =
  /** The operator guarantees that it has not executed and will not execute this reference. */
  | { readonly state: 'never_received' }
  | { readonly state: 'pending' }
  | { readonly state: 'redirect'; readonly url: string }
  | { readonly state: 'succeeded' }
  | { readonly state: 'failed'; readonly code: string; readonly message: string }
  /** The money came back after it had arrived. */
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

/** The rail said beforehand that it does nothing at the moment. */
export class RailUnavailableError extends Error {
  override readonly name: string = 'RailUnavailableError'
}

/** The same for an operation of a rail that is no longer configured. */
export class RailMissingError extends RailUnavailableError {
  override readonly name = 'RailMissingError'
}

/** What a rail is chosen by. */
export type RailRoute = Pick<RailRequest, 'livemode' | 'method'>

/** What is known so far: a payer may not have chosen a method yet. */
export interface RailChoice {
  readonly livemode: boolean
  readonly method?: RailMethod['type']
  readonly country?: string
  readonly operator?: string
}

export interface PaymentRail {
  /** Throws RailTimeoutError (outcome unknown) or RailUnavailableError (certainly not executed). */
  submit(request: RailRequest): Promise<RailState>
  /** The current state of a reference. Throws RailTimeoutError when the operator does not answer. */
  status(reference: string, route: RailRoute): Promise<RailState>
  health(route: RailRoute): Promise<'up' | 'degraded' | 'down'>
  /** Callbacks come at least once, in any order; one whose handler rejects is repeated. */
  onCallback(handle: (callback: RailCallback) => Promise<void>): Subscription
}

/** All rails together. */
export interface PaymentRails extends PaymentRail {
  /** Whether there is a rail for this at all. */
  serves(choice: RailChoice): boolean
}

/** Only simulated operators have this: a way to decide their answers. */
export interface SandboxRail extends PaymentRail {
  /**
   * Ends an operation as asked, without a callback. Returns the operator's answer from then on, which is a
   * different one if the operation had ended before.
   */
  resolve(reference: string, result: RailState): Promise<RailState>
}
