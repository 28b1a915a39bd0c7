import { refuseField } from '../../contract/refusals.ts'
import {
  choice,
  Country,
  Currency,
  literals,
  maybe,
  Msisdn,
  nameText,
  record,
  Type,
  type Static,
} from '../../contract/vocabulary.ts'
import { personal } from '../../kernel/personal.ts'

const BankText = Type.String({ minLength: 1, maxLength: 140 })

/** Where money is sent. Spelled as payment rails need it, so that it is stored as they receive it. */
export const Destination = Type.Union([
  record({
    type: literals('mobile_money'),
    country: Country,
    operator: Type.String(),
    msisdn: personal(Msisdn),
  }),
  record({
    type: literals('bank'),
    bankCode: BankText,
    accountNumber: personal(BankText),
    accountName: personal(BankText),
  }),
])

export type Destination = Static<typeof Destination>

/** What banks print on statements and read from forms: IBANs, national numbers, routing codes. */
const BankIdentifier = {
  ...BankText,
  pattern: '^[A-Za-z0-9][A-Za-z0-9 ./-]*$',
  'x-expected': 'letters, digits, spaces, `.`, `/` or `-`, with a letter or digit first',
}

/**
 * Spec, Payouts: the fields of both types. Which are required is checked by a rule: a union has no readable
 * errors.
 */
export const destinationFields = {
  type: choice('mobile_money', 'bank'),
  currency: maybe(Currency),
  country: maybe(Country),
  operator: maybe(Type.String({ minLength: 1, maxLength: 64, description: 'Name in the operator catalog' })),
  msisdn: maybe(Msisdn),
  bank_code: maybe(BankIdentifier),
  account_number: maybe(BankIdentifier),
  account_name: maybe(nameText(140, 'Holder of the bank account')),
}

const DestinationRequest = record(destinationFields)

export type DestinationRequest = Static<typeof DestinationRequest>

/** Spec, Payouts: the inline destination of a payout; null means none. */
export const InlineDestination = Type.Unsafe<DestinationRequest | null>({
  ...DestinationRequest,
  type: ['object', 'null'],
})

const mobileMoneyFields = ['country', 'operator', 'msisdn'] as const
const bankFields = ['bank_code', 'account_number', 'account_name'] as const

type Field = (typeof mobileMoneyFields | typeof bankFields)[number]

/**
 * The destination that a request describes; refused without a required field of its type or with one of
 * another type.
 */
export function readDestination(request: DestinationRequest, pointer: string): Destination {
  const foreign = request.type === 'bank' ? mobileMoneyFields : bankFields
  const stray = foreign.find((field) => request[field] != null)
  if (stray) refuseDestination(`${pointer}/${stray}`, `${stray} is no field of a ${request.type} destination`)
  if (request.type === 'bank') {
    return {
      type: 'bank',
      bankCode: need(request, 'bank_code', pointer),
      accountNumber: need(request, 'account_number', pointer),
      accountName: need(request, 'account_name', pointer),
    }
  }
  return {
    type: 'mobile_money',
    country: need(request, 'country', pointer),
    operator: need(request, 'operator', pointer),
    msisdn: need(request, 'msisdn', pointer),
  }
}

function need(request: DestinationRequest, field: Field, pointer: string): string {
  const value = request[field]
  if (value != null) return value
  return refuseDestination(`${pointer}/${field}`, `${field} is required for a ${request.type} destination`)
}

export function refuseDestination(pointer: string, message: string): never {
  return refuseField('payout_must_have_one_valid_destination', pointer, message)
}
