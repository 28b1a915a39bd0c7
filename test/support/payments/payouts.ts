import type { PayoutEvents } from '../../../packages/domain/payouts/events.ts'
import type { PayoutSettingsEvents } from '../../../packages/domain/payouts/settings.ts'
import type { Message } from '../../../packages/kernel/decider.ts'
import { context } from '../scenarios.ts'

type Event = Message<PayoutEvents>

export const at = context.now.toISOString()
export const owner = { merchant: context.merchant, livemode: false }
export const wave = {
  type: 'mobile_money',
  country: 'SN',
  operator: 'wave',
  msisdn: '+221770000000',
} as const
export const bank = {
  type: 'bank',
  bankCode: 'SN010',
  accountNumber: '0012345678',
  accountName: 'A',
} as const
export const money = {
  amount: 5_000,
  fee: 50,
  currency: 'XOF',
  source: 'merchant.available',
  rail: 'mobile_money.SN.wave',
} as const
export const failure = { code: 'recipient_not_found', message: 'No such wallet' } as const

export const request: PayoutEvents['PayoutRequested'] = {
  money,
  destination: wave,
  payoutMethod: null,
  batch: null,
  metadata: {},
  expectedBy: '2026-01-01T12:10:00.000Z',
}
export const requested: Event = { type: 'PayoutRequested', data: request }
export const sent: Event = { type: 'PayoutSent', data: { money } }
export const paid: Event = { type: 'PayoutPaid', data: { money } }
export const failed: Event = { type: 'PayoutFailed', data: { money, failure } }
export const canceled: Event = { type: 'PayoutCanceled', data: { money, reason: 'compliance' } }
export const returned: Event = { type: 'PayoutReturned', data: { money } }
export const abandoned: Event = { type: 'PayoutAbandoned', data: { currency: 'XOF' } }
export const delayed: Event = { type: 'PayoutDelayed', data: { reason: 'unknown' } }
export const mine = { source: 'mine' }
export const savedBank = { destination: bank, payoutMethod: context.id, metadata: mine }
export const late = { now: new Date('2026-01-01T12:10:00.001Z') }
export const lateAt = late.now.toISOString()

export function requestedFrom(changes: Partial<PayoutEvents['PayoutRequested']>): Event {
  return { type: 'PayoutRequested', data: { ...request, ...changes } }
}

export type Revised = PayoutSettingsEvents['PayoutSettingsRevised']

const initialSettings: Revised = {
  frequency: 'manual',
  keepMinimumBalance: false,
  minimumBalance: 0,
  minimumBalanceCurrency: null,
  defaultDestination: null,
  recurrence: null,
  overdue: [],
  notesRuns: true,
  nextRunAt: null,
}

/** The settings from the start, changed in this way. */
export function revised(changes: Partial<Revised>): Message<PayoutSettingsEvents> {
  return { type: 'PayoutSettingsRevised', data: { ...initialSettings, ...changes } }
}
