import { publicId } from '../../packages/contract/identity.ts'
import { spelledAmount } from '../../packages/contract/locale/money-text.ts'
import { deciders, idPrefixes } from '../../packages/domain/index.ts'
import { supportCase, type SupportCase } from '../../packages/domain/cases/case.ts'
import { invoice } from '../../packages/domain/invoices/invoice.ts'
import type { Invoice } from '../../packages/domain/invoices/state.ts'
import { isLateRefunded } from '../../packages/domain/payment-intents/late-refunds.ts'
import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import type { PaymentIntent } from '../../packages/domain/payment-intents/state.ts'
import { payoutDestination, type PayoutDestination } from '../../packages/domain/payouts/destination.ts'
import { payout, type Payout } from '../../packages/domain/payouts/payout.ts'
import { refund, type Refund } from '../../packages/domain/refunds/refund.ts'
import type { Subscription } from '../../packages/domain/subscriptions/state.ts'
import { subscription } from '../../packages/domain/subscriptions/subscription.ts'
import { readState } from '../../packages/kernel/history.ts'
import type { EventStore } from '../../packages/kernel/ports.ts'
import type { Traces } from './traces.ts'
import type { Wallet } from './wallets.ts'

/** Why the name or number in a state is still needed; `undefined` when it is not. */
type Reason<State> = (state: State) => string | undefined

const reasons: Readonly<Record<string, Reason<never>>> = {
  [payout.category]: ((state) => {
    if (state.status === 'pending' || state.status === 'in_transit') return 'is on its way'
    return state.status === 'failed' && state.charging ? 'is being charged again' : undefined
  }) satisfies Reason<Payout>,
  [paymentIntent.category]: ((state) => {
    if (state.status === 'none') return undefined
    const { status, late } = state
    if (status === 'processing' || status === 'requires_action') return 'waits for the payer'
    if (status === 'requires_payment_method' && state.locked) return 'is being confirmed'
    if (status === 'requires_payment_method' && state.purpose.type === 'topup')
      return 'may fill the wallet: cancel it first'
    if (status === 'canceled' && state.open) return 'may still be paid'
    const isKept = late.some((operationId) => !isLateRefunded(state, operationId))
    return isKept ? 'was paid late, and the money goes back' : undefined
  }) satisfies Reason<PaymentIntent>,
  [refund.category]: ((state) => {
    if (state.status === 'pending') return 'is on its way'
    return state.status === 'failed' && state.charge?.status === 'open' ? 'is being charged' : undefined
  }) satisfies Reason<Refund>,
  [payoutDestination.category]: ((state) => {
    return state.status === 'active' ? 'is saved for payouts: remove it first' : undefined
  }) satisfies Reason<PayoutDestination>,
  [subscription.category]: ((state) => {
    return state.status === 'none' || state.status === 'canceled' ? undefined : 'is running: cancel it first'
  }) satisfies Reason<Subscription>,
  [invoice.category]: ((state) => {
    return state.status === 'draft' ? 'is a draft: issue or void it first' : undefined
  }) satisfies Reason<Invoice>,
  [supportCase.category]: ((state) => {
    return state.status === 'open' ? 'is open: resolve it first' : undefined
  }) satisfies Reason<SupportCase>,
}

/** What has to end before the person is erased, because money moves by what would be erased. */
export async function openMatters(
  store: Pick<EventStore, 'readStream'>,
  { traces, plain, wallets }: Traces,
): Promise<readonly string[]> {
  const open = wallets.map(stillFull)
  const events = new Map([...traces, ...plain].map(({ event }) => [event.stream, event]))
  for (const { category, id } of events.values()) {
    const reason = reasons[category]
    if (!reason) continue
    const decider = deciders.find((each) => each.category === category)!
    const why = reason((await readState(store, decider, id)) as never)
    if (why !== undefined) open.push(`${category.replaceAll('_', ' ')} ${shownId(category, id)} ${why}`)
  }
  return open
}

/** Nobody could spend it any more, and no refund would know where to go. */
function stillFull({ customer, currency, amount }: Wallet): string {
  const sum = `${spelledAmount(amount)} ${currency}`
  return `customer ${publicId('cus', customer)} has ${sum} in the wallet: refund it, or pay invoices with it first`
}

function shownId(category: string, id: string): string {
  const prefix = idPrefixes[category]
  return prefix === undefined ? id : publicId(prefix, id)
}
