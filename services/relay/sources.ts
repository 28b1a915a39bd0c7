import type { WebhookType } from '../../packages/contract/webhook-types.ts'
import { availableTemplates, balanceWebhook } from '../../packages/domain/balances/balance.ts'
import { customer } from '../../packages/domain/customers/customer.ts'
import { customerPublicEvents, customerWebhook } from '../../packages/domain/customers/resource.ts'
import { parseBookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import type { LedgerEvents } from '../../packages/domain/ledger/events.ts'
import { afterPostings, balances, balancesFrom, type Book } from '../../packages/domain/ledger/state.ts'
import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import {
  paymentIntentPublicEvents,
  paymentIntentWebhook,
} from '../../packages/domain/payment-intents/resource.ts'
import { payoutDestination } from '../../packages/domain/payouts/destination.ts'
import { payout } from '../../packages/domain/payouts/payout.ts'
import {
  payoutDestinationPublicEvents,
  payoutDestinationWebhook,
  payoutPublicEvents,
  payoutWebhook,
} from '../../packages/domain/payouts/resource.ts'
import { refund } from '../../packages/domain/refunds/refund.ts'
import { refundPublicEvents, refundWebhook } from '../../packages/domain/refunds/resource.ts'
import { viewWebhookEndpoint } from '../../packages/domain/webhook-endpoints/resource.ts'
import {
  webhookEndpoint,
  type WebhookEndpoint,
  type WebhookEndpointEvents,
} from '../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import type { Decider, Payloads } from '../../packages/kernel/decider.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import type { PublicSource } from './render.ts'

type TypeTable<Events> = Readonly<Partial<Record<keyof Events, WebhookType>>>

/** A resource whose public events follow from the type of the domain event alone. */
function source<S, C extends Payloads, E extends Payloads>(
  decider: Decider<S, C, E>,
  types: TypeTable<E>,
  view: (id: string, state: S) => unknown,
): PublicSource {
  const byType = types as Readonly<Record<string, WebhookType | undefined>>
  return { decider, resource: decider.category, typeOf: ({ type }) => byType[type], view }
}

/** Merchants are told balances, so holds and what has ended need not be remembered here a second time. */
const balancesAlone: typeof book.evolve = {
  EntryPosted: afterPostings,
  HoldPlaced: afterPostings,
  HoldAdvanced: afterPostings,
  HoldPosted: afterPostings,
  HoldVoided: afterPostings,
}

/** What merchants are told about. Domain model, section 6. */
export const publicSources: readonly PublicSource[] = [
  source(payout, payoutPublicEvents, payoutWebhook),
  source(payoutDestination, payoutDestinationPublicEvents, payoutDestinationWebhook),
  source(paymentIntent, paymentIntentPublicEvents, paymentIntentWebhook),
  source(refund, refundPublicEvents, refundWebhook),
  source(customer, customerPublicEvents, customerWebhook),
  {
    decider: webhookEndpoint,
    resource: webhookEndpoint.category,
    typeOf: webhookEndpointEventType,
    view: (id, state: WebhookEndpoint, { metadata }) => viewWebhookEndpoint(id, state, new Date(metadata.at)),
  },
  {
    decider: {
      ...book,
      evolve: balancesAlone,
      ...(book.snapshot && { snapshot: { ...book.snapshot, restored: balancesFrom } }),
    },
    resource: 'balance',
    typeOf: ({ type, data }) => {
      if (type !== 'EntryPosted') return undefined
      return availableTemplates.includes((data as LedgerEvents['EntryPosted']).template)
        ? 'balance.available'
        : undefined
    },
    view: viewBookBalance,
  },
]

/** What a merchant does to an endpoint itself it need not be told. */
function webhookEndpointEventType({ type, data }: RecordedEvent): WebhookType | undefined {
  if (type === 'WebhookEndpointMarkedFailing') return 'webhook_endpoint.failing'
  if (type === 'WebhookEndpointRecovered') return 'webhook_endpoint.recovered'
  const { reason } = data as Partial<WebhookEndpointEvents['WebhookEndpointDisabled']>
  return type === 'WebhookEndpointDisabled' && reason === 'gone' ? 'webhook_endpoint.disabled' : undefined
}

function viewBookBalance(id: string, state: Book, { position, metadata }: RecordedEvent): unknown {
  const { currency } = parseBookId(id)
  return balanceWebhook(
    { ...balances(state), currency, position },
    { livemode: metadata.livemode, asOf: metadata.at },
  )
}
