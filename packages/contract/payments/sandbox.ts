import type { RailRequest } from '../../kernel/ports/rails.ts'

/** What the simulated operators can do with an operation. */
export type SandboxBehaviour =
  | 'succeeds_soon'
  | 'succeeds_at_once'
  | 'fails_soon'
  | 'fails_late'
  | 'never_answers'
  | 'stays_pending'
  | 'is_down'
  | 'is_returned'
  | 'calls_back_twice'
  | 'refund_fails'
  | 'redirects'
  | 'declines_at_once'

export interface MagicValue {
  /** The last four digits of an msisdn or account number, or a whole card token. */
  readonly value: string
  readonly behaviour: SandboxBehaviour
  /** Why it fails, by kind of operation. */
  readonly failureCodes?: Readonly<Partial<Record<RailRequest['kind'], string>>>
  /** For the documentation. */
  readonly effect: string
}

/** Domain model 7: magic numbers of mobile money and bank accounts. Inferred: `0009`, whose refunds fail. */
export const magicNumbers: readonly MagicValue[] = [
  { value: '0001', behaviour: 'succeeds_soon', effect: 'Succeeds, or is paid, by itself after 2 s.' },
  {
    value: '0002',
    behaviour: 'fails_soon',
    failureCodes: { collection: 'insufficient_funds', disbursement: 'recipient_not_found' },
    effect: 'Fails after 2 s: a payment with insufficient_funds, a payout with recipient_not_found.',
  },
  {
    value: '0003',
    behaviour: 'fails_late',
    failureCodes: { collection: 'payer_declined', disbursement: 'operator_declined' },
    effect: 'Fails after 5 s: a payment with payer_declined, a payout with operator_declined.',
  },
  {
    value: '0004',
    behaviour: 'never_answers',
    failureCodes: { collection: 'payment_timeout' },
    effect:
      'The operator takes it and answers no question about it: a payment fails with payment_timeout ' +
      'after 5 min, a payout becomes delayed with operator_timeout.',
  },
  {
    value: '0005',
    behaviour: 'stays_pending',
    effect:
      'The operator reports it as pending, so that a payout becomes delayed with operator_pending; ' +
      'it succeeds after 15 min.',
  },
  {
    value: '0006',
    behaviour: 'is_down',
    effect:
      'The operator is down: confirming a payment answers 502 IKW-TRANSFER-006, ' +
      'a payout becomes delayed with operator_down.',
  },
  {
    value: '0007',
    behaviour: 'is_returned',
    effect: 'A payout is paid after 2 s, and its money comes back 10 s later. A payment succeeds after 2 s.',
  },
  {
    value: '0008',
    behaviour: 'calls_back_twice',
    effect: 'Succeeds after 2 s, and the operator says so twice.',
  },
  {
    value: '0009',
    behaviour: 'refund_fails',
    failureCodes: { refund: 'could_not_process' },
    effect: 'Succeeds after 2 s, but a refund of the payment fails.',
  },
]

/** Our page asks for no card numbers: the payer types them at the acquirer. */
export const hostedCardToken = 'tok_hosted'

/** Domain model 7, with spellings common among other payment services. */
export const magicCardTokens: readonly MagicValue[] = [
  ...['tok_ok', 'tok_visa'].map((value): MagicValue => ({
    value,
    behaviour: 'succeeds_soon',
    effect: 'Succeeds by itself after 2 s.',
  })),
  { value: 'tok_instant', behaviour: 'succeeds_at_once', effect: 'Succeeds at once.' },
  ...['tok_declined', 'tok_chargeDeclined'].map((value) => declined(value, 'card_declined')),
  declined('tok_chargeDeclinedInsufficientFunds', 'insufficient_funds'),
  declined('tok_chargeDeclinedExpiredCard', 'expired_card'),
  declined('tok_chargeDeclinedIncorrectCvc', 'incorrect_cvc'),
  {
    value: hostedCardToken,
    behaviour: 'redirects',
    effect: 'What our own page pays with: the payer is redirected to a page that plays the bank of the card.',
  },
  {
    value: 'tok_3ds',
    behaviour: 'redirects',
    effect: 'Requires an action: the payer is redirected to a page that plays the bank of the card.',
  },
]

function declined(value: string, collection: string): MagicValue {
  const effect = `Fails at once with ${collection}.`
  return { value, behaviour: 'declines_at_once', failureCodes: { collection }, effect }
}

/** What happens without a magic value. */
export const sandboxDefaults = {
  mobile_money:
    'Waits for a test trigger (POST /api/test/…); without one a payment fails with payment_timeout ' +
    'after 5 min.',
  card: 'Fails at once with card_declined: there is no such token.',
  bank: 'Is paid at once.',
  refund: 'Succeeds at once.',
} as const

const numbers: ReadonlyMap<string, MagicValue> = new Map(magicNumbers.map((row) => [row.value, row]))
const tokens: ReadonlyMap<string, MagicValue> = new Map(magicCardTokens.map((row) => [row.value, row]))

/** The row of the tables that a method matches. */
export function magicValueOf(method: RailRequest['method']): MagicValue | undefined {
  if (method.type === 'card') return tokens.get(method.token)
  return numbers.get((method.type === 'bank' ? method.accountNumber : method.msisdn).slice(-4))
}
