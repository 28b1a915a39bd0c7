import type { Delivery } from '../../infra/postgres/webhooks/deliveries.ts'
import { ownerText, type MerchantOwner } from '../../packages/kernel/owner.ts'
import { Places, type Share } from './places.ts'

export interface LanesOptions {
  /** Concurrent attempts to one endpoint, as long as it answers well. */
  readonly perEndpointMax: number
  /** Concurrent attempts to all endpoints. */
  readonly inFlightMax: number
  /** Deliveries in memory: waiting and in flight. */
  readonly heldMax: number
  /** Makes one attempt and records its result; true when the endpoint accepted it. Must not reject. */
  readonly attempt: (delivery: Delivery) => Promise<boolean>
}

/** A merchant in one environment. */
interface OwnerLanes {
  readonly key: string
  /** Of the attempts under way. */
  readonly underWay: Share
  /** Of the deliveries in memory. */
  readonly held: Share
  lanes: number
  /** Lanes that may be able to start something, in the order of their turn. */
  readonly turns: Set<Lane>
}

interface Lane {
  readonly endpoint: string
  readonly owner: OwnerLanes
  readonly waiting: Delivery[]
  /** Resources with an attempt in flight: the next one of the same resource waits for its end. */
  readonly busy: Set<string>
  limit: number
  /** The endpoint took what was last sent to it. */
  isTaking: boolean
}

/** A queue starts narrow, because nobody knows yet whether its endpoint answers. */
const placesAtFirst = 2
/** For each of its places, a queue may keep this many deliveries in memory; all others wait in Postgres. */
const deliveriesPerPlace = 16
/** What is remembered of idle endpoints is how well they answered last. */
const idleLanesMax = 10_000
const startsAtOnceMax = 64

/**
 * Deliveries in memory, a lane for each endpoint. A lane gets narrower with every failure, down to one place,
 * and wider with every success, so that endpoints which do not answer take few places from the others.
 * Owners share all places, and take turns, as do the lanes of each.
 */
export class EndpointQueues {
  readonly #options: LanesOptions
  readonly #lanes = new Map<string, Lane>()
  readonly #owners = new Map<string, OwnerLanes>()
  readonly #held = new Set<number>()
  readonly #inMemory: Places
  readonly #inFlight: Places
  /** Owners that may be able to start something, in the order of their turn. */
  readonly #turns = new Set<OwnerLanes>()
  #isStarting = false
  #stopped = false
  #idle: (() => void)[] = []

  constructor(options: LanesOptions) {
    this.#options = options
    this.#inMemory = new Places(options.heldMax)
    this.#inFlight = new Places(options.inFlightMax)
  }

  /** How many more deliveries an endpoint may have in memory. */
  room(endpoint: string): number {
    if (this.#stopped) return 0
    const lane = this.#lanes.get(endpoint)
    return lane ? this.#roomIn(lane) : this.#limitAtFirst * deliveriesPerPlace
  }

  /** How many more deliveries all endpoints of an owner, by its key, may have in memory. */
  roomOf(owner: string): number {
    if (this.#stopped) return 0
    return this.#inMemory.room(this.#owners.get(owner)?.held ?? { taken: 0 })
  }

  /** How many more deliveries there may be in memory. */
  get roomOfAll(): number {
    return this.#stopped ? 0 : this.#inMemory.free
  }

  /**
   * Of what waits in Postgres, an endpoint that is not known gets no stock, because its owner is not known
   * either, and nothing when memory is nearly full: then it has to be made known.
   */
  get roomDefault(): number {
    return this.#inMemory.free > this.#inMemory.reserve ? this.#limitAtFirst : 0
  }

  /** The endpoints whose room differs from that of an unknown one. */
  rooms(): Record<string, number> {
    const rooms: Record<string, number> = {}
    for (const lane of this.#lanes.values()) {
      const room = this.#roomIn(lane)
      if (room !== this.roomDefault) rooms[lane.endpoint] = room
    }
    return rooms
  }

  /** Ids of all deliveries in memory. */
  held(): readonly number[] {
    return [...this.#held]
  }

  /** Makes known whose an endpoint is. */
  know(endpoint: string, owner: MerchantOwner): void {
    this.#lane(endpoint, owner)
  }

  /** Takes a delivery into memory. First attempts of one endpoint and resource are added in their order. */
  add(delivery: Delivery): void {
    if (this.#stopped || this.#held.has(delivery.id)) return
    const lane = this.#lane(delivery.endpoint, delivery)
    this.#held.add(delivery.id)
    this.#inMemory.take(lane.owner.held)
    lane.waiting.push(delivery)
    this.#queue(lane)
    this.#startSoon()
  }

  /** Drops what is not in flight. */
  forgetWaiting(): void {
    for (const { waiting, owner } of this.#lanes.values())
      for (const { id } of waiting.splice(0)) this.#forget(id, owner)
    for (const { turns } of this.#turns) turns.clear()
    this.#turns.clear()
  }

  /** Then what was in memory may still be claimed. */
  get isStopped(): boolean {
    return this.#stopped
  }

  /** Accepts nothing more and resolves when nothing is in flight. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.forgetWaiting()
    if (this.#inFlight.taken > 0) await new Promise<void>((idle) => this.#idle.push(idle))
  }

  get #limitAtFirst(): number {
    return Math.min(placesAtFirst, this.#options.perEndpointMax)
  }

  /** The lanes of an owner share its room. Once half of it is used, none of them lays in a stock. */
  #roomIn({ owner, limit, waiting, busy }: Lane): number {
    const ofOwner = this.#inMemory.room(owner.held)
    const most = ofOwner > owner.held.taken ? limit * deliveriesPerPlace : limit
    const own = most - waiting.length - busy.size
    return Math.max(0, Math.min(own, Math.ceil(ofOwner / owner.lanes)))
  }

  #lane(endpoint: string, of: MerchantOwner): Lane {
    let lane = this.#lanes.get(endpoint)
    if (!lane) {
      const owner = this.#owner(ownerText(of))
      owner.lanes++
      const limit = this.#limitAtFirst
      lane = { endpoint, owner, waiting: [], busy: new Set(), limit, isTaking: false }
      this.#lanes.set(endpoint, lane)
      if (this.#lanes.size > idleLanesMax) this.#dropIdle()
    }
    return lane
  }

  #owner(key: string): OwnerLanes {
    let owner = this.#owners.get(key)
    if (!owner) {
      owner = { key, underWay: { taken: 0 }, held: { taken: 0 }, lanes: 0, turns: new Set() }
      this.#owners.set(key, owner)
    }
    return owner
  }

  #queue(lane: Lane): void {
    lane.owner.turns.add(lane)
    this.#turns.add(lane.owner)
  }

  #forget(id: number, { held }: OwnerLanes): void {
    this.#held.delete(id)
    this.#inMemory.giveBack(held)
  }

  /**
   * A large batch starts in parts, between which answers are read: otherwise Postgres would wait for its next
   * batch while a thousand deliveries are signed.
   */
  #startSoon(): void {
    if (this.#isStarting) return
    this.#isStarting = true
    setImmediate(() => {
      this.#isStarting = false
      this.#start(startsAtOnceMax)
    })
  }

  /** One delivery of each owner at a time, as long as there are places; beyond `most`, they start soon. */
  #start(most: number): void {
    let started = 0
    for (const owner of this.#turns) {
      if (this.#inFlight.free <= 0) return
      if (started === most) return this.#startSoon()
      const next = this.#takeNext(owner)
      if (next || owner.turns.size === 0) this.#turns.delete(owner)
      if (!next) continue
      started++
      const { lane, delivery } = next
      lane.busy.add(delivery.resource)
      this.#inFlight.take(owner.underWay)
      void this.#carryOut(lane, delivery)
      this.#queue(lane)
    }
  }

  /** Lanes for which the owner has no place now keep their turn. */
  #takeNext({
    underWay,
    turns,
  }: OwnerLanes): { readonly lane: Lane; readonly delivery: Delivery } | undefined {
    if (this.#inFlight.room(underWay) === 0) return undefined
    const isOpenToAll = this.#inFlight.room(underWay, this.#inFlight.reserve) > 0
    for (const lane of turns) {
      if (!isOpenToAll && !lane.isTaking) continue
      turns.delete(lane)
      const delivery = nextOf(lane)
      if (delivery) return { lane, delivery }
    }
    return undefined
  }

  async #carryOut(lane: Lane, delivery: Delivery): Promise<void> {
    const taken = await this.#options.attempt(delivery)
    lane.isTaking = taken
    lane.limit = taken ? Math.min(lane.limit + 1, this.#options.perEndpointMax) : Math.max(1, lane.limit >> 1)
    lane.busy.delete(delivery.resource)
    this.#forget(delivery.id, lane.owner)
    this.#inFlight.giveBack(lane.owner.underWay)
    if (!this.#stopped && lane.waiting.length > 0) this.#queue(lane)
    this.#start(this.#options.inFlightMax)
    if (this.#inFlight.taken === 0) for (const idle of this.#idle.splice(0)) idle()
  }

  #dropIdle(): void {
    let looked = 0
    for (const lane of this.#lanes.values()) {
      if (lane.busy.size === 0 && lane.waiting.length === 0) return this.#drop(lane)
      if (++looked === 100) return
    }
  }

  #drop({ endpoint, owner }: Lane): void {
    this.#lanes.delete(endpoint)
    if (--owner.lanes === 0) this.#owners.delete(owner.key)
  }
}

/** Takes the oldest delivery out of a queue whose resource has nothing in flight. */
function nextOf(lane: Lane): Delivery | undefined {
  if (lane.busy.size >= lane.limit) return undefined
  const index = lane.waiting.findIndex(({ resource }) => !lane.busy.has(resource))
  return index < 0 ? undefined : lane.waiting.splice(index, 1)[0]
}
