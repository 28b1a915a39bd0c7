import type {
  PaymentFailureCode,
  PaymentIntentEvents,
} from '../../../packages/domain/payment-intents/events.ts'
import { paymentIntent } from '../../../packages/domain/payment-intents/payment-intent.ts'
import type { PayoutEvents } from '../../../packages/domain/payouts/events.ts'
import { payout } from '../../../packages/domain/payouts/payout.ts'
import { parseStreamName, type AnyDecider, type Payloads } from '../../../packages/kernel/decider.ts'
import { recordedEvent } from '../../../packages/kernel/history.ts'
import type { EventStore, Log, StoredEvent, Subscription } from '../../../packages/kernel/ports.ts'
import type { Metrics } from '../../composition/observing/metrics.ts'

const batchSize = 2_000
const everyMs = 250

/** They say something of the payer and nothing of the operator. */
const payersOwn: ReadonlySet<PaymentFailureCode> = new Set<PaymentFailureCode>([
  'insufficient_funds',
  'invalid_phone',
  'invalid_operator',
  'card_declined',
  'expired_card',
  'incorrect_cvc',
  'payer_declined',
  'limit_reached',
])

interface Ended {
  /** Missing where the event does not say it. */
  readonly rail: string | null
  readonly outcome: string
}

type Endings<E extends Payloads> = { readonly [Type in keyof E]?: (data: E[Type]) => Ended }

const payouts: Endings<PayoutEvents> = {
  PayoutPaid: ({ money }) => ({ rail: money.rail, outcome: 'paid' }),
  PayoutFailed: ({ money }) => ({ rail: money.rail, outcome: 'failed' }),
}

const payments: Endings<PaymentIntentEvents> = {
  PaymentIntentSucceeded: ({ rail }) => ({ rail, outcome: 'succeeded' }),
  PaymentIntentFailed: ({ rail, code }) => ({
    rail,
    outcome: payersOwn.has(code) ? 'declined' : 'failed',
  }),
}

interface Counted {
  readonly decider: AnyDecider
  readonly endings: Readonly<Record<string, ((data: never) => Ended) | undefined>>
  readonly name: string
  readonly help: string
}

const counted: readonly Counted[] = [
  {
    decider: payout,
    endings: payouts,
    name: 'payouts_ended_total',
    help: 'Payouts that have ended since this process leads',
  },
  {
    decider: paymentIntent,
    endings: payments,
    name: 'payments_ended_total',
    help: 'Confirmed payments that have ended since this process leads',
  },
]

interface Count {
  readonly labels: Readonly<Record<string, string>>
  value: number
}

/** How payouts and payments end, by rail: counted from now on. */
export class Outcomes {
  /** By the category of their streams. */
  readonly #kinds = new Map<string, { readonly kind: Counted; readonly counts: Map<string, Count> }>()

  constructor(metrics: Metrics) {
    for (const kind of counted) {
      const counts = new Map<string, Count>()
      this.#kinds.set(kind.decider.category, { kind, counts })
      metrics.counters(kind.name, kind.help, {
        labels: ['environment', 'rail', 'outcome'],
        read: () => [...counts.values()],
      })
    }
  }

  async follow(store: EventStore, log: Log): Promise<Subscription> {
    return store.subscribe({
      after: await store.head(),
      batchSize,
      everyMs,
      categories: [...this.#kinds.keys()],
      onError: (error) => log.warn({ error }, 'counting how money ends is tried again'),
      handle: async (events) => {
        for (const event of events) this.#count(event, log)
      },
    })
  }

  /** What cannot be read is parked by those whom it concerns; the others are counted all the same. */
  #count(event: StoredEvent, log: Log): void {
    const { stream, revision, type } = event
    try {
      this.#countReadable(event)
    } catch (error) {
      log.error({ stream, revision, type, error }, 'not counted')
    }
  }

  #countReadable(event: StoredEvent): void {
    const { kind, counts } = this.#kinds.get(parseStreamName(event.stream).category)!
    if (!Object.hasOwn(kind.endings, event.type)) return
    const { data, metadata } = recordedEvent(kind.decider, event)
    const { rail, outcome } = kind.endings[event.type]!(data as never)
    if (rail === null) return
    const labels = { environment: metadata.livemode ? 'live' : 'sandbox', rail, outcome }
    const key = Object.values(labels).join(' ')
    const known = counts.get(key)
    if (known) known.value++
    else counts.set(key, { labels, value: 1 })
  }
}
