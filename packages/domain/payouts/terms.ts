import { admitPayout } from '../../contract/payments/eligibility.ts'
import { quoteFee } from '../../contract/payments/fees.ts'
import { streamName } from '../../kernel/decider.ts'
import { merchantAvailable, payoutFees } from '../ledger/accounts.ts'
import type { PlaceHold } from '../ledger/commands.ts'
import type { HoldPart } from '../ledger/events.ts'
import { refuseDestination, type Destination } from './destination-request.ts'
import type { PayoutMoney } from './money.ts'
import { payout } from './payout.ts'

/** A requested payout with its destination resolved. */
export interface Wanted {
  readonly merchant: string
  readonly amount: number
  readonly currency: string
  readonly destination: Destination
  /** The destination's currency; null when it accepts any. */
  readonly takes: { readonly currency: string | null; readonly pointer: string }
}

export interface Terms {
  readonly money: PayoutMoney
  /** With the operator's canonical name. */
  readonly destination: Destination
}

/** Spec, Payouts, execution rules 1 and 4: a payout's fee and rail, or a refusal. */
export function agreeTerms({ merchant, amount, currency, takes, ...wanted }: Wanted, now: Date): Terms {
  if (takes.currency !== null && takes.currency !== currency) {
    refuseDestination(takes.pointer, `The destination takes ${takes.currency}, the payout is in ${currency}`)
  }
  const destination = admitPayout({ currency, amountMinor: amount }, wanted.destination)
  const { type: method } = destination
  const { country, operator } = method === 'mobile_money' ? destination : {}
  const operation = 'payout'
  const asked = { operation, merchant, method, country, operator, amountMinor: amount, currency } as const
  const { feeMinor: fee } = quoteFee(asked, now)
  const rail = railOf(destination, currency)
  return { destination, money: { amount, fee, currency, source: merchantAvailable, rail } }
}

/** A payout is a hold of one part. */
export function holdFor(id: string, money: PayoutMoney): PlaceHold {
  const owner = streamName(payout.category, id)
  return { template: 'payout.hold', subject: { type: 'payout', id }, owner, parts: [partFor(id, money)] }
}

export function partFor(id: string, { amount, fee, source, rail }: PayoutMoney): HoldPart {
  return { id, source, amount, fee, feeAccount: fee > 0 ? payoutFees : null, rail }
}

/** Inferred: a bank destination names no country, so our accounts at banks are separated by currency. */
function railOf(destination: Destination, currency: string): string {
  if (destination.type === 'bank') return `bank.${currency}`
  return `mobile_money.${destination.country}.${destination.operator}`
}
