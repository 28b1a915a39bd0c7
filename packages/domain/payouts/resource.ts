import { lastCharacters } from '../../contract/locale/characters.ts'
import { publicId } from '../../contract/identity.ts'
import {
  AmountMinor,
  base,
  choice,
  clearable,
  CountMinor,
  Currency,
  Identity,
  literals,
  maybe,
  Metadata,
  nullable,
  optional,
  proseText,
  record,
  Timestamp,
  Type,
  unixSeconds,
  type Static,
} from '../../contract/vocabulary.ts'
import { erasedText } from '../../kernel/personal.ts'
import { DelayReason } from './events.ts'
import { isUnderWay, type Payout } from './payout.ts'
import { destinationFields, InlineDestination, type Destination } from './destination-request.ts'
import type { PayoutDestination } from './destination.ts'
import { FailureCode, operatorFailureCodes } from './failure.ts'
import { Frequency } from './schedule.ts'
import type { PayoutSettings } from './settings.ts'

// Requests

/** Spec, Payouts: exactly one of `destination` and `payout_method_id`. */
export const PayoutRequest = record({
  amount: AmountMinor,
  currency: Currency,
  destination: optional(InlineDestination),
  payout_method_id: maybe(Identity),
  metadata: optional(Metadata),
})

export const PayoutDestinationRequest = record({
  ...destinationFields,
  label: maybe(proseText(128, 'A name of your own')),
  is_default: optional(Type.Boolean({ default: false })),
})

export const PayoutSettingsRevision = record({
  frequency: optional(choice('manual', 'daily', 'weekly', 'monthly')),
  keep_minimum_balance: optional(Type.Boolean()),
  minimum_balance: optional(CountMinor),
  minimum_balance_currency: clearable({
    ...Currency,
    description: 'Of the minimum balance; your own where none is chosen',
  }),
  default_destination_id: clearable({ ...Identity, description: 'Saved destination of automatic payouts' }),
})

/** Sandbox only: decides the operator's answer. */
export const PayoutCallback = record({
  payout_id: Identity,
  status: choice('paid', 'failed'),
  failure_code: maybe(choice(...operatorFailureCodes)),
  failure_message: maybe(Type.String({ maxLength: 512 })),
})

// Resources

export const PayoutStatus = literals('pending', 'in_transit', 'paid', 'failed', 'canceled')

const MobileMoneyResource = record({
  type: literals('mobile_money'),
  country: Type.String(),
  operator: Type.String(),
  msisdn: Type.String(),
})
const BankResource = record({
  type: literals('bank'),
  currency: Currency,
  bank_code: Type.String(),
  account_number: Type.String(),
  account_name: Type.String(),
})

export const PayoutResource = record({
  ...base('payout', 'po'),
  amount: AmountMinor,
  currency: Currency,
  fee: CountMinor,
  status: PayoutStatus,
  destination: Type.Union([MobileMoneyResource, BankResource], { 'x-name': 'PayoutDestinationDetails' }),
  payout_method_id: nullable(Type.String()),
  payout_batch: nullable(Type.String()),
  arrival_date_estimate: Timestamp,
  expected_by: Timestamp,
  delay_state: nullable(literals('delayed')),
  delay_reason: nullable(DelayReason),
  delayed_at: nullable(Timestamp),
  metadata: Metadata,
  failure_code: nullable(FailureCode),
  failure_message: nullable(Type.String()),
})

export const PayoutDestinationResource = record({
  ...base('payout_destination'),
  type: literals('mobile_money', 'bank'),
  currency: nullable(Currency),
  country: nullable(Type.String()),
  operator: nullable(Type.String()),
  msisdn: nullable(Type.String()),
  bank_code: nullable(Type.String()),
  account_number: nullable(Type.String()),
  account_name: nullable(Type.String()),
  label: nullable(Type.String()),
  is_default: Type.Boolean(),
  status: literals('active', 'removed'),
  usable_from: Timestamp,
})

export const DeletedPayoutDestination = record({
  id: Type.String(),
  object: literals('payout_destination'),
  deleted: Type.Literal(true),
})

export const PayoutSettingsResource = record({
  ...base('payout_settings'),
  frequency: Frequency,
  keep_minimum_balance: Type.Boolean(),
  minimum_balance: CountMinor,
  minimum_balance_currency: Currency,
  default_destination_id: nullable(Type.String()),
  destinations: Type.Array(PayoutDestinationResource),
})

// Views

export function viewPayout(id: string, state: Payout): Static<typeof PayoutResource> | undefined {
  if (state.status === 'none' || state.status === 'abandoned') return undefined
  const { status, money, destination, payoutMethod, batch, metadata, expectedBy, delay } = state
  const failure = state.status === 'failed' ? state.failure : null
  return {
    id: publicId('po', id),
    object: 'payout',
    livemode: state.livemode,
    created: unixSeconds(state.at),
    amount: money.amount,
    currency: money.currency,
    fee: money.fee,
    status,
    destination: viewDestination(destination, money.currency),
    payout_method_id: payoutMethod,
    payout_batch: batch,
    arrival_date_estimate: expectedBy,
    expected_by: expectedBy,
    delay_state: delay && isUnderWay(state) ? 'delayed' : null,
    delay_reason: delay && delay.reason,
    delayed_at: delay && delay.at,
    metadata,
    failure_code: failure && failure.code,
    failure_message: failure && failure.message,
  }
}

type DestinationView = Static<typeof PayoutResource>['destination']

function viewDestination(destination: Destination, currency: string): DestinationView {
  if (destination.type === 'mobile_money') return destination
  const { type, bankCode, accountNumber, accountName } = destination
  return { type, currency, bank_code: bankCode, account_number: accountNumber, account_name: accountName }
}

export function viewPayoutDestination(
  id: string,
  state: PayoutDestination,
): Static<typeof PayoutDestinationResource> | undefined {
  if (state.status === 'none') return undefined
  const { destination, currency, label, isDefault, status, usableFrom, livemode, at } = state
  return {
    id,
    object: 'payout_destination',
    livemode,
    created: unixSeconds(at),
    type: destination.type,
    currency,
    ...noDetails,
    ...(destination.type === 'bank' ? bankDetails(destination) : mobileMoneyDetails(destination)),
    label,
    is_default: isDefault,
    status,
    usable_from: usableFrom,
  }
}

const noDetails = {
  country: null,
  operator: null,
  msisdn: null,
  bank_code: null,
  account_number: null,
  account_name: null,
}

function mobileMoneyDetails({ country, operator, msisdn }: Extract<Destination, { type: 'mobile_money' }>) {
  return { country, operator, msisdn }
}

function bankDetails({ bankCode, accountNumber, accountName }: Extract<Destination, { type: 'bank' }>) {
  return { bank_code: bankCode, account_number: accountNumber, account_name: accountName }
}

export function viewDeletedDestination(id: string): Static<typeof DeletedPayoutDestination> {
  return { id, object: 'payout_destination', deleted: true }
}

/** What the settings are shown with. */
export interface SettingsParts {
  readonly merchant: string
  readonly livemode: boolean
  /** The merchant's own currency, in which a minimum without a currency is. */
  readonly currency: string
  readonly destinations: readonly { readonly id: string; readonly state: PayoutDestination }[]
}

/** The settings with all saved destinations, whose numbers are masked. */
export function viewPayoutSettings(
  _: string,
  settings: PayoutSettings,
  { merchant, livemode, currency, destinations }: SettingsParts,
): Static<typeof PayoutSettingsResource> {
  const { defaultDestination, createdAt } = settings
  const isStillSaved = destinations.some(({ id }) => id === defaultDestination)
  return {
    id: merchant,
    object: 'payout_settings',
    livemode,
    created: createdAt ? unixSeconds(createdAt) : 0,
    ...viewPayoutChoices('', settings),
    minimum_balance_currency: settings.minimumBalanceCurrency ?? currency,
    default_destination_id: isStillSaved ? defaultDestination : null,
    destinations: destinations.flatMap(({ id, state }) => {
      const view = viewPayoutDestination(id, state)
      return view ? [{ ...masked(view), is_default: id === defaultDestination }] : []
    }),
  }
}

/** What the merchant has chosen, as their history tells it. */
export function viewPayoutChoices(_: string, settings: PayoutSettings) {
  const { frequency, keepMinimumBalance, minimumBalance, minimumBalanceCurrency, defaultDestination } =
    settings
  return {
    frequency,
    keep_minimum_balance: keepMinimumBalance,
    minimum_balance: minimumBalance,
    ...(minimumBalanceCurrency && { minimum_balance_currency: minimumBalanceCurrency }),
    default_destination_id: defaultDestination,
  }
}

function masked(view: Static<typeof PayoutDestinationResource>): Static<typeof PayoutDestinationResource> {
  return { ...view, msisdn: ending(view.msisdn), account_number: ending(view.account_number) }
}

/** Domain model 5.1: lists show the last four. */
function ending(number: string | null): string | null {
  return number && number !== erasedText ? `****${lastCharacters(number, 4)}` : number
}
