import type { Message } from '../../kernel/decider.ts'
import { policy, to } from '../../kernel/policy.ts'
import type { RecordedEvent } from '../../kernel/projection.ts'
import { bookId } from '../ledger/accounts.ts'
import { book } from '../ledger/book.ts'
import type { BookCommands } from '../ledger/commands.ts'
import type { LedgerEvents } from '../ledger/events.ts'
import type { PayoutDestinationEvents } from './destination.ts'
import type { PayoutMoney } from './money.ts'
import type { PayoutEvents } from './events.ts'
import { payout } from './payout.ts'
import { payoutSettings, payoutSettingsId } from './settings.ts'
import { partFor } from './terms.ts'

/** A requested payout is sent. A reaction to PayoutSent calls the operator; a policy never does. */
const sending = policy<PayoutEvents>('payout_sending', {
  PayoutRequested: ({ id }) => [to(payout, id, { type: 'SendPayout', data: {} })],
})

/** A payout's hold follows the payout: advanced when it is sent, then posted or voided, each once. */
const money = policy<PayoutEvents>('payout_money', {
  PayoutSent: (event) => inBook(event, { type: 'AdvanceHold', data: { holdId: event.id } }),
  PayoutPaid: (event) => {
    return inBook(event, { type: 'PostHold', data: { holdId: event.id, rail: event.data.money.rail } })
  },
  PayoutFailed: (event) => inBook(event, { type: 'VoidHold', data: { holdId: event.id } }),
  PayoutCanceled: (event) => inBook(event, { type: 'VoidHold', data: { holdId: event.id } }),
  PayoutReturned: (event) => {
    return inBook(event, { type: 'PostEntry', data: { template: 'payout.return', ...heldFor(event) } })
  },
  PayoutChargeRequested: (event) => {
    const entry = { template: 'payout.paid_late', ...heldFor(event) } as const
    return inBook(event, { type: 'PostEntry', data: { ...entry, isRefusable: true } })
  },
})

/** What the book says of a payout that it was asked to charge again. */
const charges = policy<LedgerEvents>('payout_charges', {
  EntryPosted: ({ data: { template, subject } }) => {
    return template === 'payout.paid_late'
      ? [to(payout, subject.id, { type: 'SettleLatePayout', data: {} })]
      : []
  },
  EntryRefused: ({ data: { template, subject, reason } }) => {
    return template === 'payout.paid_late'
      ? [to(payout, subject.id, { type: 'RefuseCharge', data: { reason } })]
      : []
  },
})

/** The settings follow changes of destinations, even when the request that asked for one was interrupted. */
const settings = policy<PayoutDestinationEvents>('payout_settings', {
  PayoutDestinationSaved: (event) => {
    if (!event.data.isDefault) return []
    const choice = { destination: event.id, savedAt: event.metadata.at }
    return [to(payoutSettings, settingsOf(event), { type: 'AdoptDefaultDestination', data: choice })]
  },
  PayoutDestinationRemoved: (event) => {
    const data = { destination: event.id }
    return [to(payoutSettings, settingsOf(event), { type: 'ForgetDestination', data })]
  },
})

function heldFor({ id, data }: RecordedEvent<{ money: PayoutMoney }>) {
  return { subject: { type: 'payout', id }, parts: [partFor(id, data.money)] }
}

export const payoutPolicies = [sending, money, charges, settings]

function inBook({ metadata, data }: RecordedEvent<{ money: PayoutMoney }>, command: Message<BookCommands>) {
  return [to(book, bookId(metadata.merchant, metadata.livemode, data.money.currency), command)]
}

function settingsOf({ metadata }: RecordedEvent): string {
  return payoutSettingsId(metadata)
}
