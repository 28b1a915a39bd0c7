import type { RecordedEvent } from '../../kernel/projection.ts'
import { start, stop, timerHandlers } from '../../kernel/timer.ts'
import type { SubscriptionEvents } from './events.ts'

export const subscriptionTimers = timerHandlers<SubscriptionEvents>({
  SubscriptionStarted: (event) => {
    const { bill, first } = event.data
    return [start('subscription_period', event.id, event, bill ? bill.end : first.start)]
  },
  SubscriptionRenewed: (event) => [start('subscription_period', event.id, event, event.data.bill.end)],
  SubscriptionBecamePastDue: owing,
  SubscriptionOwedMore: owing,
  SubscriptionOwedLess: owing,
  SubscriptionRecovered: (event) => [
    stop('subscription_unpaid', event.id),
    start('subscription_period', event.id, event, event.data.renewsAt),
  ],
  SubscriptionBecameUnpaid: (event) => {
    const { cancelsAt } = event.data
    const ends =
      cancelsAt === null
        ? stop('subscription_period', event.id)
        : start('subscription_period', event.id, event, cancelsAt)
    return [stop('subscription_unpaid', event.id), ends]
  },
  SubscriptionCanceled: ({ id }) => [stop('subscription_period', id), stop('subscription_unpaid', id)],
})

function owing(event: RecordedEvent<{ readonly unpaidFrom: string | null }>) {
  const { unpaidFrom } = event.data
  return unpaidFrom === null ? [] : [start('subscription_unpaid', event.id, event, unpaidFrom)]
}
