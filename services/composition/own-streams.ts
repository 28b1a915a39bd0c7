import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { payout } from '../../packages/domain/payouts/payout.ts'
import { refund } from '../../packages/domain/refunds/refund.ts'
import { webhookReplay } from '../../packages/domain/webhook-endpoints/webhook-replay.ts'
import { deciders } from '../../packages/domain/index.ts'

/** One for each operation: looking at the metadata of each would cost more than it could find. */
const perOperation = [paymentIntent, payout, refund, webhookReplay]

/** Which streams of an event store that others use too belong to this service. */
export const ownStreams = {
  categories: deciders.map(({ category }) => category),
  shortLived: perOperation.map(({ category }) => category),
}
