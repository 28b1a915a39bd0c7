import type { Egress } from '../../infra/http/egress.ts'
import type { Attempted, Deliveries, Delivery } from '../../infra/postgres/webhooks/deliveries.ts'
import type { Replays } from '../../infra/postgres/webhooks/replays.ts'
import { webhookReplay } from '../../packages/domain/webhook-endpoints/webhook-replay.ts'
import type { Executor } from '../../packages/kernel/execution/execute.ts'
import type { EventBus, PublicEvent, PublicEvents } from '../../packages/kernel/ports/messages.ts'
import type {
  Clock,
  EventStore,
  Log,
  Mailer,
  NewId,
  Subscription,
  Vault,
} from '../../packages/kernel/ports.ts'
import type { Tracing } from '../../packages/kernel/ports/traces.ts'
import type { ReadStore } from '../../packages/kernel/ports/reads.ts'
import { attempt } from './attempt.ts'
import { tracedAttempt } from './traced-attempt.ts'
import { Completions } from './completions.ts'
import { carryOutConsequences } from './consequences.ts'
import { Directory } from './directory.ts'
import { DeliveryClaims } from './delivery-claims.ts'
import { matchEndpoints } from './intake.ts'
import { EndpointQueues } from './endpoint-queues.ts'
import { ReplayRunner } from './replays.ts'
import { Routine } from './routine.ts'

export interface WebhookOptions {
  readonly deliveries: Deliveries
  readonly replays: Replays
  readonly publicEvents: PublicEvents
  readonly bus: EventBus
  readonly store: EventStore
  readonly reads: ReadStore
  readonly executor: Pick<Executor, 'send'>
  readonly vault: Vault
  readonly mailer: Mailer
  /** A merchant's mail address; `undefined` when it has given none. */
  readonly addressOf: (merchant: string) => Promise<string | undefined>
  readonly egress: Egress
  readonly clock: Clock
  readonly newId: NewId
  readonly log: Log
  /** Left out where no traces are collected. */
  readonly tracing?: Tracing
  readonly limits?: Partial<WebhookLimits>
  /** Receives functions that can be asked at any time. */
  readonly observe?: (gauges: WebhookGauges) => void
  /** Jitter of retries; from 0 to below 1. */
  readonly chance?: () => number
}

export interface WebhookGauges {
  /** Deliveries in memory. */
  readonly held: () => number
  /** Enabled endpoints whose stream cannot be read. */
  readonly unreadable: () => number
}

export interface WebhookLimits {
  readonly perEndpointMax: number
  readonly inFlightMax: number
  readonly heldMax: number
  readonly ownersMax: number
  /** After this time, deliveries of a killed process are released. */
  readonly leaseMs: number
  /** How late a retry may start. */
  readonly pollMs: number
}

const defaultLimits: WebhookLimits = {
  perEndpointMax: 16,
  inFlightMax: 1_024,
  heldMax: 20_000,
  ownersMax: 5_000,
  leaseMs: 30_000,
  pollMs: 500,
}

/**
 * Sends public events to the endpoints that are enabled for them, until one is accepted or its schedule ends.
 */
export async function startWebhooks(options: WebhookOptions): Promise<Subscription> {
  const service = new WebhookService(options, { ...defaultLimits, ...options.limits })
  await service.open()
  return service
}

const subscriptionBatchSize = 1_000

class WebhookService implements Subscription {
  readonly #options: WebhookOptions
  readonly #limits: WebhookLimits
  readonly #directory: Directory
  readonly #lanes: EndpointQueues
  readonly #completions: Completions
  readonly #hands: DeliveryClaims
  readonly #replays: ReplayRunner
  readonly #stopping = new AbortController()
  /** A delivery of a replay was tried, so the replay may be complete. */
  #hasReplayed = false
  #subscriptions: readonly Subscription[] = []
  #routines: Partial<Record<'claims' | 'lease' | 'consequences' | 'replays', Routine>> = {}

  constructor(options: WebhookOptions, limits: WebhookLimits) {
    this.#options = options
    this.#limits = limits
    const { clock, log, newId, deliveries } = options
    this.#directory = new Directory({ ...options, ownersMax: limits.ownersMax })
    this.#replays = new ReplayRunner(options, this.#directory)
    this.#lanes = new EndpointQueues({ ...limits, attempt: (delivery) => this.#attempt(delivery) })
    options.observe?.({
      held: () => this.#lanes.held().length,
      unreadable: () => this.#directory.unreadable,
    })
    this.#completions = new Completions({
      write: (batch) => deliveries.complete(this.#hands.worker, batch),
      onWritten: (batch) => this.#follow(batch),
      log,
    })
    this.#hands = new DeliveryClaims({
      deliveries,
      lanes: this.#lanes,
      completions: this.#completions,
      leaseMs: limits.leaseMs,
      clock,
      newId,
      log,
    })
  }

  async open(): Promise<void> {
    await this.#hands.begin()
    await this.#directory.open()
    const { log } = this.#options
    const { pollMs, leaseMs } = this.#limits
    const routine = (name: string, everyMs: number, run: () => Promise<unknown>) =>
      new Routine({ name, everyMs, run, log })
    this.#routines = {
      lease: routine('lease', leaseMs / 3, () => this.#hands.renewLease()),
      claims: routine('claims', pollMs, () => this.#claim()),
      consequences: routine('consequences', pollMs, () =>
        carryOutConsequences(this.#hands.worker, this.#options),
      ),
      replays: routine('replays', pollMs, () => this.#advanceReplays()),
    }
    this.#subscriptions = [await this.#subscribeReplays(), await this.#subscribeEvents()]
  }

  /** Lets attempts in flight end and releases everything else. */
  async close(): Promise<void> {
    this.#stopping.abort()
    const idle = this.#lanes.stop()
    await Promise.all(this.#subscriptions.map((subscription) => subscription.close()))
    await Promise.all(Object.values(this.#routines).map((routine) => routine.stop()))
    await idle
    await this.#completions.close()
    await this.#directory.close()
    await this.#hands.end()
  }

  /** The batch is acknowledged when its deliveries are stored; repeats are stored once. */
  #subscribeEvents(): Promise<Subscription> {
    return this.#options.bus.subscribe('webhooks', async (events: readonly PublicEvent[]) => {
      if (events.length === 0) return
      await this.#hands.add(await matchEndpoints(this.#directory, events))
    })
  }

  async #subscribeReplays(): Promise<Subscription> {
    const { store, log } = this.#options
    return store.subscribe({
      categories: [webhookReplay.category],
      after: await store.head(),
      batchSize: subscriptionBatchSize,
      handle: async (batch) => {
        if (batch.length > 0) this.#routines.replays?.wake()
      },
      onError: (error) => log.warn({ error }, 'following webhook replays failed and is repeated'),
    })
  }

  /** True unless the endpoint refused it. */
  async #attempt(delivery: Delivery): Promise<boolean> {
    const { egress, clock, log, tracing, chance = Math.random } = this.#options
    const stopping = this.#stopping.signal
    const tools = { directory: this.#directory, egress, clock, log, chance, stopping }
    const attempted = await (tracing ? tracedAttempt(delivery, tools, tracing) : attempt(delivery, tools))
    if (!attempted) return true
    if (delivery.replay !== null) this.#hasReplayed = true
    await this.#completions.add(attempted)
    return attempted.status === 'succeeded' || attempted.status === 'skipped'
  }

  #follow(batch: readonly Attempted[]): void {
    if (batch.some(({ consequence }) => consequence !== null)) this.#routines.consequences?.wake()
    if (this.#hands.canClaim) this.#routines.claims?.wake()
    if (!this.#hasReplayed) return
    this.#hasReplayed = false
    this.#routines.replays?.wake()
  }

  /** Round after round, as long as there is room and something to claim. */
  async #claim(): Promise<void> {
    for (let roundEnded = false; !roundEnded && !this.#stopping.signal.aborted;)
      roundEnded = await this.#hands.claim()
  }

  async #advanceReplays(): Promise<void> {
    if (await this.#replays.advance()) this.#routines.claims?.wake()
  }
}
