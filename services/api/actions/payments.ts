import { publicId } from '../../../packages/contract/identity.ts'
import { refuse } from '../../../packages/contract/refusals.ts'
import type { Request, Slice } from '../../../packages/contract/routes.ts'
import { optional, record, Type, type Static } from '../../../packages/contract/vocabulary.ts'
import { paymentIntent } from '../../../packages/domain/payment-intents/payment-intent.ts'
import { paymentFields, viewPayment } from '../../../packages/domain/payment-intents/payment.ts'
import { TimelineEntry, timelineOf } from '../../../packages/domain/payment-intents/timeline.ts'
import { RefundResource, viewRefund, type RefundView } from '../../../packages/domain/refunds/resource.ts'
import type { Refund } from '../../../packages/domain/refunds/refund.ts'
import { recordedEvent } from '../../../packages/kernel/history.ts'
import { streamName } from '../../../packages/kernel/decider.ts'
import { owns } from '../../../packages/kernel/owner.ts'
import type { RecordedEvent } from '../../../packages/kernel/projection.ts'
import type { PaymentIntent } from '../../../packages/domain/payment-intents/state.ts'
import { refunds } from '../../../projections/refunds.ts'
import { cursorAt, placeOf } from '../kinds/cursors.ts'

export const DetailedPayment = record({
  ...paymentFields,
  timeline: Type.Array(TimelineEntry),
  refunds: Type.Array(RefundResource),
})

export const TimelineQuery = record({
  limit: optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })),
  cursor: optional(Type.String()),
})

type RequestPart = Pick<Request, 'caller' | 'owner' | 'dependencies' | 'params'>

type Beside = Pick<Static<typeof DetailedPayment>, 'timeline' | 'refunds'>

/** What happened to a payment, and what of it went back. */
export async function besidePayment(request: RequestPart, id: string): Promise<Beside> {
  const { events } = await historyOf(request)
  return { timeline: timelineOf(events), refunds: await refundsOf(request, id) }
}

export function viewDetailedPayment(id: string, state: PaymentIntent, beside: Beside) {
  const payment = viewPayment(id, state)
  return payment && { ...payment, ...beside }
}

/** What happened to an intent, newest first. */
export async function timelineItems(
  request: RequestPart & { readonly query: Static<typeof TimelineQuery> },
): Promise<Slice<Static<typeof TimelineEntry>>> {
  const { id, events } = await historyOf(request)
  const list = `/api/v1/payment-intents/${publicId('pi', id)}/timeline`
  const { limit = 10, cursor } = request.query
  const before = cursor === undefined ? events.length : placeOf(request, list, cursor)
  const entries = timelineOf(events).slice(0, before)
  const data = entries.slice(-limit).toReversed()
  const left = entries.length - data.length
  return left === 0 ? { data } : { data, hasMore: true, next: cursorAt(request, list, left) }
}

interface IntentHistory {
  readonly id: string
  readonly events: readonly RecordedEvent[]
}

/** An intent with all its events; those of other merchants and the other environment do not exist here. */
async function historyOf({ owner, dependencies, params }: RequestPart): Promise<IntentHistory> {
  const id = params['id']!
  const stored = await dependencies.store.readStream(streamName(paymentIntent.category, id), 0)
  if (!stored[0] || !owns(stored[0].metadata, owner)) refuse('resource_must_exist')
  return { id, events: stored.map((event) => recordedEvent(paymentIntent, event)) }
}

const refundsShownMax = 100
const waitMs = 1_000

/** A payment's newest refunds, including those requested a moment ago. */
async function refundsOf({ dependencies }: RequestPart, paymentIntentId: string): Promise<RefundView[]> {
  await dependencies.reads.reached(await dependencies.store.head(), waitMs, refunds.name)
  const { rows } = await dependencies.reads.page<{ id: string; state: Refund }>({
    from: refunds.name,
    where: [
      { column: 'payment_intent', operator: '=', value: paymentIntentId },
      { column: 'shown', operator: '=', value: true },
    ],
    order: 'created',
    limit: refundsShownMax,
  })
  return rows.map(({ id, state }) => viewRefund(id, state)).filter((view) => view !== undefined)
}
