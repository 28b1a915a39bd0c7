import type { PayoutEvents } from '../../packages/domain/payouts/events.ts'
import { payout } from '../../packages/domain/payouts/payout.ts'
import { recordedEvent } from '../../packages/kernel/history.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import type { EventStore, Log, Subscription } from '../../packages/kernel/ports.ts'
import type { Metrics } from '../composition/metrics.ts'

const outcomes: Readonly<Record<string, string>> = { PayoutPaid: 'paid', PayoutFailed: 'failed' }
const batchSize = 2_000
const everyMs = 1_000

/** Results of payouts, by rail: counted from now on. */
export class PayoutOutcomes {
  readonly #counts = new Map<string, { readonly labels: Readonly<Record<string, string>>; value: number }>()

  constructor(metrics: Metrics) {
    metrics.counters('payouts_ended_total', 'Payouts that have ended since this process leads', {
      labels: ['environment', 'rail', 'outcome'],
      read: () => [...this.#counts.values()],
    })
  }

  async follow(store: EventStore, log: Log): Promise<Subscription> {
    return store.subscribe({
      after: await store.head(),
      batchSize,
      everyMs,
      categories: [payout.category],
      onError: (error) => log.warn({ error }, 'counting how payouts end is tried again'),
      handle: async (events) => {
        for (const event of events) {
          if (event.type in outcomes)
            this.#count(recordedEvent(payout, event) as RecordedEvent<PayoutEvents['PayoutPaid']>)
        }
      },
    })
  }

  #count({ type, data: { money }, metadata }: RecordedEvent<PayoutEvents['PayoutPaid']>): void {
    const environment = metadata.livemode ? 'live' : 'sandbox'
    const labels = { environment, rail: money.rail, outcome: outcomes[type]! }
    const key = Object.values(labels).join(' ')
    const known = this.#counts.get(key)
    if (known) known.value++
    else this.#counts.set(key, { labels, value: 1 })
  }
}
