import { marketOf, markets } from '../../../../packages/contract/payments/catalog.ts'
import { publicId } from '../../../../packages/contract/identity.ts'
import { methodTypes } from '../../../../packages/contract/payments/payment-methods.ts'
import {
  isServedBy,
  servedCollectors,
  type ServedMarket,
} from '../../../../packages/contract/payments/rails.ts'
import { refuseField } from '../../../../packages/contract/refusals.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import { hostedCardToken } from '../../../../packages/contract/payments/sandbox.ts'
import {
  literals,
  maybe,
  nullable,
  record,
  Type,
  type Static,
} from '../../../../packages/contract/vocabulary.ts'
import { paymentFailureCodes } from '../../../../packages/domain/payment-intents/events.ts'
import {
  isLocked,
  reversalOf,
  type CreatedIntent,
} from '../../../../packages/domain/payment-intents/state.ts'
import { HostedReceipt } from './hosted-receipts.ts'

// What pages that are paid on have in common, whatever is paid.

export const HostedMethods = Type.Array(
  record({
    type: literals('mobile_money', 'card'),
    operators: Type.Array(record({ code: Type.String(), name: Type.String() })),
  }),
)

export const HostedTry = nullable(
  record(
    {
      operator: nullable(Type.String()),
      phone: nullable(Type.String({ description: 'Last four digits' })),
      operation_id: nullable(Type.String()),
      redirect_url: nullable(Type.String()),
      failure_code: nullable(literals(...paymentFailureCodes)),
      reversal: nullable({
        ...literals('paid_too_late', 'taken_back'),
        description:
          'Why what the payer has paid does not count: it is sent back, or the operator has it back',
      }),
    },
    { description: 'The newest try to pay' },
  ),
)

/** More than the payer was shown is not paid. */
export const AtMost = {
  ...Type.String({
    maxLength: 15,
    pattern: '^[1-9][0-9]*$',
    description: 'What the button says, in minor units',
  }),
  'x-expected': 'an amount in minor units, in digits',
}

/** Where a part was paid since the page was shown, pressing again is pressing twice. */
export const Left = { ...AtMost, description: 'What was left of the invoice, in minor units' }

export const TakesPayments = Type.Boolean({
  description: 'False while the merchant is suspended: nothing can be paid on the page then',
})

/** How a page can be paid, what came of it, and where it leads. */
export const paymentOfPage = {
  takes_payments: TakesPayments,
  payment_methods: HostedMethods,
  payment: HostedTry,
  receipt: HostedReceipt,
  return_url: nullable(
    Type.String({ description: 'Where the page leads back to, where `back` of its address says so' }),
  ),
}

/** The form of our pages, with the field names of that of checkout. */
export const PaymentForm = record({
  PaymentMethod: maybe(Type.String({ maxLength: 64, description: '`mobile_money` or `card`' })),
  Operator: maybe(Type.String({ maxLength: 64 })),
  PhoneNumber: maybe(
    Type.String({ maxLength: 32, description: 'As people write it: with or without the country code' }),
  ),
  AtMost: maybe(AtMost),
})

type Rails = Pick<Request['dependencies'], 'rail'>

/** What a rail carries out, for nobody can pay by another. `amountMinor` null: the payer chooses it. */
export function methodsFor(
  { rail }: Rails,
  market: ServedMarket,
  amountMinor: number | null,
): Static<typeof HostedMethods> {
  const types = methodTypes.filter((type) => isServedBy(rail, type, market, amountMinor))
  return types.map((type) => {
    const operators = type === 'card' ? [] : servedCollectors(rail, market, amountMinor)
    return { type, operators: operators.map(({ code, name }) => ({ code, name })) }
  })
}

/** Countries in which somebody can pay it by telephone. */
export function payableFrom(
  { rail }: Rails,
  market: Omit<ServedMarket, 'country'>,
  amountMinor: number,
): readonly string[] {
  return markets
    .map(({ country }) => country)
    .filter((country) => isServedBy(rail, 'mobile_money', { ...market, country }, amountMinor))
}

/** Assumed until the payer chooses: the merchant's country, or the first from which it can be paid. */
export function usualCountry(rails: Rails, { country: home, ...market }: ServedMarket, amountMinor: number) {
  if (methodsFor(rails, { ...market, country: home }, amountMinor).length > 0) return home
  return payableFrom(rails, market, amountMinor)[0] ?? home
}

export function tried(intent: CreatedIntent): Static<typeof HostedTry> {
  const attempt = intent.attempts.at(-1)
  const method = attempt?.method
  return {
    operator: method?.type === 'mobile_money' ? method.operator : null,
    phone: method?.type === 'mobile_money' ? method.msisdn.slice(-4) : null,
    operation_id: attempt ? publicId('op', attempt.operationId) : null,
    redirect_url: intent.status === 'requires_action' ? intent.url : null,
    failure_code: intent.status === 'failed' ? intent.failure.code : null,
    reversal: reversalOf(intent),
  }
}

export function paymentStatusOf(intent: CreatedIntent | undefined): 'unpaid' | 'processing' | 'paid' {
  if (intent?.status === 'succeeded') return 'paid'
  const isBegun =
    intent && (intent.status === 'processing' || intent.status === 'requires_action' || isLocked(intent))
  return isBegun ? 'processing' : 'unpaid'
}

export function chosenMethod(
  { PaymentMethod, Operator, PhoneNumber }: Static<typeof PaymentForm>,
  country: string,
) {
  if (PaymentMethod === 'card') return { type: 'card', card: { token: hostedCardToken } } as const
  if (PaymentMethod !== 'mobile_money') {
    const message = 'PaymentMethod must be mobile_money or card'
    return refuseField('request_must_be_valid', '/PaymentMethod', message)
  }
  if (!Operator) return refuseField('request_must_be_valid', '/Operator', 'Operator is required')
  if (!PhoneNumber) return refuseField('request_must_be_valid', '/PhoneNumber', 'PhoneNumber is required')
  const mobile_money = { country, operator: Operator, msisdn: internationalNumber(country, PhoneNumber) }
  return { type: 'mobile_money', mobile_money } as const
}

/** The telephone that a form asks to pay. */
export function promptedBy({ PhoneNumber }: Static<typeof PaymentForm>): string | undefined {
  return PhoneNumber?.replaceAll(/\D/g, '')
}

/** As people write numbers at home or abroad. */
export function internationalNumber(country: string, text: string): string {
  const digits = text.replace(/[^\d+]/g, '').replace(/^00/, '+')
  const own = marketOf(country)
  if (!own || digits.startsWith('+')) return digits
  const { callingCode } = own
  const isWhole = own.msisdnPattern.test(`+${digits}`)
  return isWhole ? `+${digits}` : callingCode + digits
}
