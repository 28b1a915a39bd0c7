import { LRUCache } from 'lru-cache'
import type { OpenReplay, ReplayPlan, Replays } from '../../infra/postgres/webhooks/replays.ts'
import { webhookTypes } from '../../packages/domain/index.ts'
import { isEnabledFor, missedBy } from '../../packages/domain/webhook-endpoints/replay-scope.ts'
import { webhookReplay, type WebhookReplay } from '../../packages/domain/webhook-endpoints/webhook-replay.ts'
import type { Executor } from '../../packages/kernel/execution/execute.ts'
import type { PublicEvents } from '../../packages/kernel/ports/messages.ts'
import { ownerOf } from '../../packages/kernel/owner.ts'
import type { Clock, Log } from '../../packages/kernel/ports.ts'
import type { Directory } from './directory.ts'

export interface ReplayTools {
  readonly replays: Replays
  readonly publicEvents: PublicEvents
  readonly executor: Pick<Executor, 'send'>
  readonly clock: Clock
  readonly log: Log
}

type RequestedReplay = Exclude<WebhookReplay, { status: 'none' }>

/** This many to one endpoint run at a time: its other ones wait, and nobody else does. */
const openPerEndpointMax = 20
const openPerOwnerMax = 2_000
const replaysPerTurn = 100
const retryMs = { first: 5_000, most: 3_600_000 }
const failuresKept = 10_000

interface Failure {
  readonly tries: number
  /** Milliseconds since 1970. */
  readonly until: number
}

/** Plans requested replays, and completes those whose deliveries were all tried. */
export class ReplayRunner {
  readonly #tools: ReplayTools
  readonly #directory: Directory
  /** A failure is retried later and delays nothing else. */
  readonly #failures = new LRUCache<string, Failure>({ max: failuresKept })
  /** Ended a moment ago: the read model may still show them as running. */
  readonly #ended = new LRUCache<string, true>({ max: replaysPerTurn * 10 })

  constructor(tools: ReplayTools, directory: Directory) {
    this.#tools = tools
    this.#directory = directory
  }

  /** True when there are new deliveries to claim. */
  async advance(): Promise<boolean> {
    let hasPlanned = false
    for (;;) {
      const replays = await this.#tools.replays.open({
        perOwnerMax: openPerOwnerMax,
        perEndpointMax: openPerEndpointMax,
        limit: replaysPerTurn,
        without: this.#setAside(),
      })
      for (const replay of replays) if (await this.#advance(replay)) hasPlanned = true
      if (replays.length < replaysPerTurn) return hasPlanned
    }
  }

  /** Ids to leave out for now. */
  #setAside(): readonly string[] {
    const now = this.#tools.clock().getTime()
    const waiting = [...this.#failures.entries()].filter(([, { until }]) => until > now)
    return [...this.#ended.keys(), ...waiting.map(([id]) => id)]
  }

  async #advance(replay: OpenReplay): Promise<boolean> {
    const { id } = replay
    try {
      if (!replay.isPlanned) await this.#plan(replay)
      else await this.#complete(replay)
      this.#failures.delete(id)
      return !replay.isPlanned
    } catch (error) {
      const tries = (this.#failures.peek(id)?.tries ?? 0) + 1
      const delayMs = Math.min(retryMs.first * 2 ** (tries - 1), retryMs.most)
      this.#failures.set(id, { tries, until: this.#tools.clock().getTime() + delayMs })
      this.#tools.log.warn({ error, replay: id, delayMs }, 'a webhook replay failed and is tried again')
      return false
    }
  }

  async #plan(replay: OpenReplay): Promise<void> {
    const { replays, clock } = this.#tools
    await replays.plan({ replay: replay.id, now: clock(), what: await this.#scope(replay) })
  }

  async #complete({ id, merchant, livemode }: OpenReplay): Promise<void> {
    const { deliveries, succeeded } = await this.#tools.replays.result(id)
    const data = { deliveries, succeeded, failed: deliveries - succeeded }
    await this.#tools.executor.send(
      webhookReplay,
      id,
      { type: 'CompleteReplay', data },
      { merchant, livemode, actor: 'policy:webhook-deliveries', correlation: id, mustExist: true },
    )
    this.#ended.set(id, true)
  }

  /** What is to be sent again, by the endpoints as they are now. */
  async #scope(replay: OpenReplay): Promise<ReplayPlan['what']> {
    const { event, endpoint, at } = replay.state as RequestedReplay
    const owner = ownerOf(replay)
    if (event !== null && endpoint !== null) return { event, endpoints: [endpoint] }
    if (event !== null) {
      const type = (await this.#tools.publicEvents.find(event, owner))?.type
      await this.#directory.reach(replay.created)
      const enabled = (await this.#directory.enabled(owner)).filter(
        (one) => type !== undefined && isEnabledFor(one.state, type),
      )
      return { event, endpoints: enabled.map(({ id }) => id) }
    }
    const asked = await this.#directory.find(owner, endpoint!)
    if (!asked) throw new Error(`replay ${replay.id} is for endpoint ${endpoint}, which does not exist`)
    const scope = missedBy(asked.state, new Date(at), Object.keys(webhookTypes))
    const missed = { endpoint: asked.id, ...owner, ...scope }
    return { missed: { ...missed, after: asked.created, through: replay.created } }
  }
}
