import type { Deliveries, Delivery, NewDelivery } from '../../infra/postgres/webhooks/deliveries.ts'
import type { PublicEvent } from '../../packages/kernel/ports/messages.ts'
import { ownerText } from '../../packages/kernel/owner.ts'
import type { Clock, Log, NewId } from '../../packages/kernel/ports.ts'
import type { Completions } from './completions.ts'
import type { EndpointQueues } from './endpoint-queues.ts'

export interface Match {
  readonly event: PublicEvent
  /** UUID. */
  readonly endpoint: string
}

export interface HandsOptions {
  readonly deliveries: Deliveries
  readonly lanes: EndpointQueues
  readonly completions: Completions
  readonly leaseMs: number
  readonly clock: Clock
  readonly newId: NewId
  readonly log: Log
}

const addMax = 1_000
const claimMax = 500

/**
 * Everything that claims deliveries, one step after the other: what Postgres returns first enters the queues
 * first. Claimed deliveries are this process's alone, as long as it renews its lease.
 */
export class DeliveryClaims {
  readonly #options: HandsOptions
  #worker: string
  #turn: Promise<unknown> = Promise.resolve()
  /** A step failed, so rows may be claimed that this process does not know of. */
  #uncertain = false
  #after = ''
  /** Endpoints that may have deliveries waiting in Postgres. */
  #left = new Set<string>()

  constructor(options: HandsOptions) {
    this.#options = options
    this.#worker = options.newId()
  }

  /** Takes the lease, before anything is claimed. */
  begin(): Promise<void> {
    return this.#options.deliveries.begin(this.#worker, this.#leaseEnd())
  }

  get worker(): string {
    return this.#worker
  }

  /** Inserts deliveries and claims those that can be sent at once; the others can be claimed later. */
  async add(matches: readonly Match[]): Promise<void> {
    for (let start = 0; start < matches.length; start += addMax) {
      const some = matches.slice(start, start + addMax)
      await this.#step(() => this.#add(some))
    }
  }

  /**
   * Whether a claim is worthwhile now. What waits for endpoints that accept nothing is not asked for again.
   */
  get canClaim(): boolean {
    const { lanes } = this.#options
    for (const endpoint of this.#left) if (lanes.room(endpoint) > 0) return true
    return false
  }

  /** Claims what is due; true when all endpoints have had their turn, or there is no room. */
  claim(): Promise<boolean> {
    return this.#step(async () => {
      const { deliveries, lanes, clock } = this.#options
      const limit = Math.min(claimMax, lanes.roomOfAll)
      if (limit <= 0) return true
      const place = { now: clock(), after: this.#after }
      if (lanes.roomDefault === 0) {
        for (const due of await deliveries.due(this.#worker, place)) lanes.know(due.endpoint, due)
      }
      const rooms = { rooms: lanes.rooms(), roomDefault: lanes.roomDefault }
      const asked = [...this.#left].filter((endpoint) => lanes.room(endpoint) > 0)
      const { deliveries: claimed, after } = await deliveries.claim(this.#worker, {
        ...place,
        ...rooms,
        limit,
      })
      this.#after = after
      // An endpoint that had room keeps its place only by what it was given.
      for (const endpoint of asked) this.#left.delete(endpoint)
      for (const delivery of claimed) {
        this.#left.add(delivery.endpoint)
        lanes.add(delivery)
      }
      return after === ''
    })
  }

  /** Call it several times within a lease. */
  renewLease(): Promise<void> {
    return this.#step(async () => {
      const { deliveries, clock, lanes, log } = this.#options
      const known = lanes.isStopped ? undefined : this.#known()
      if (await deliveries.renewLease(this.#worker, { now: clock(), until: this.#leaseEnd(), known })) return
      // Others may have claimed these rows by now; a new name keeps this process from writing to them.
      log.warn({ worker: this.#worker }, 'the lease on webhook deliveries had run out')
      lanes.forgetWaiting()
      this.#worker = this.#options.newId()
      await this.begin()
    })
  }

  /** Releases everything, so that others need not wait for the lease to expire. */
  end(): Promise<void> {
    return this.#step(() => this.#options.deliveries.end(this.#worker))
  }

  async #add(matches: readonly Match[]): Promise<void> {
    const { deliveries, lanes, clock } = this.#options
    const wanted = this.#wanted(matches)
    const rows = matches.map((match, index) => newDelivery(match, wanted[index] === true))
    const ids = await deliveries.add(this.#worker, clock(), rows)
    for (const match of matches) {
      const { endpoint, event } = match
      const id = ids.get(endpoint + event.id)
      if (id !== undefined) {
        lanes.add(freshDelivery(id, match))
        continue
      }
      this.#left.add(endpoint)
      lanes.know(endpoint, event)
    }
  }

  /** When there is no room for one delivery of an endpoint, there is none for later ones. */
  #wanted(matches: readonly Match[]): readonly boolean[] {
    const { lanes } = this.#options
    const chosen = new Map<string, number>()
    let chosenInAll = 0
    return matches.map(({ endpoint, event }) => {
      const owner = ownerText(event)
      const [own, ofOwner] = [chosen.get(endpoint) ?? 0, chosen.get(owner) ?? 0]
      if (lanes.roomOfAll <= chosenInAll) return false
      if (lanes.roomOf(owner) <= ofOwner || lanes.room(endpoint) <= own) return false
      chosen.set(endpoint, own + 1).set(owner, ofOwner + 1)
      chosenInAll++
      return true
    })
  }

  #step<Result>(step: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(async () => {
      if (this.#uncertain) await this.#giveBackUnknown()
      try {
        return await step()
      } catch (error) {
        this.#uncertain = true
        throw error
      }
    })
    this.#turn = result.catch(() => undefined)
    return result
  }

  async #giveBackUnknown(): Promise<void> {
    await this.#options.deliveries.release(this.#worker, this.#known())
    this.#uncertain = false
  }

  #known(): readonly number[] {
    const { lanes, completions } = this.#options
    return [...lanes.held(), ...completions.held()]
  }

  #leaseEnd(): Date {
    return new Date(this.#options.clock().getTime() + this.#options.leaseMs)
  }
}

function newDelivery({ event, endpoint }: Match, wanted: boolean): NewDelivery {
  const { id, merchant, livemode, position, resource } = event
  return { endpoint, merchant, livemode, event: id, position, resource, wanted }
}

function freshDelivery(id: number, { event, endpoint }: Match): Delivery {
  const { type, merchant, livemode, position, resource, payload, traceparent = null } = event
  return {
    id,
    endpoint,
    merchant,
    livemode,
    event: event.id,
    type,
    position,
    resource,
    attempts: 0,
    replay: null,
    payload,
    traceparent,
  }
}
