import { admitPayout } from '../../contract/payments/eligibility.ts'
import { givenMetadata } from '../../contract/metadata.ts'
import { spelledAmount } from '../../contract/locale/money-text.ts'
import { Refusal, refuse } from '../../contract/refusals.ts'
import type { Context } from '../../kernel/decider.ts'
import type { Destination } from './destination-request.ts'
import type { Failure } from './failure.ts'

interface Requested {
  readonly destination: Destination
  readonly payoutMethod?: string | null
  readonly batch?: string | null
  readonly metadata?: Record<string, string>
}

/** Spec, Payout: the payout engine sets two keys. It runs batches and sandbox bank payouts. */
export function metadataOf(request: Requested, { livemode }: Pick<Context, 'livemode'>) {
  const { batch, payoutMethod, destination } = request
  const metadata = givenMetadata(request.metadata ?? {})
  const isInlineBank = destination.type === 'bank' && !payoutMethod
  if (!batch && (livemode || !isInlineBank)) return metadata
  return { ...metadata, source: 'payout_engine', environment: livemode ? 'live' : 'sandbox' }
}

export const notEligible: Failure = {
  code: 'operator_unavailable',
  message: 'The operator takes no such payouts any more',
}

interface Sum {
  readonly amount: number
  readonly currency: string
}

export function isStillEligible({ amount, currency }: Sum, destination: Destination): boolean {
  try {
    admitPayout({ amountMinor: amount, currency }, destination)
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}

interface Held {
  readonly money: Sum
}

/**
 * A repeated request decides nothing. Another request with its key has held money that is not this payout's.
 */
export function repeated({ money }: Held, { money: asked }: Held): [] {
  if (money.currency === asked.currency && money.amount === asked.amount) return []
  const [known, other] = [money, asked].map((one) => `${spelledAmount(one.amount)} ${one.currency}`)
  const detail = `This payout is of ${known}, not ${other}`
  return refuse('idempotency_key_must_be_for_one_request', { detail })
}
