import type { Delivery } from '../../infra/postgres/webhooks/deliveries.ts'

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

interface Lane {
  readonly endpoint: string
  readonly waiting: Delivery[]
  /** Resources with an attempt in flight: the next one of the same resource waits for its end. */
  readonly busy: Set<string>
  limit: number
}

/** A queue starts narrow, because nobody knows yet whether its endpoint answers. */
const placesAtFirst = 2
/** For each of its places, a queue may keep this many deliveries in memory; all others wait in Postgres. */
const deliveriesPerPlace = 16
/** What is remembered of idle endpoints is how well they answered last. */
const idleLanesMax = 10_000
const startsAtOnceMax = 64

/**
 * Deliveries in memory, with a queue per endpoint. A queue narrows with every failure, down to one place, and
 * widens with every success, so that unresponsive endpoints take few places from the others. Queues take
 * turns when all places are taken.
 */
export class EndpointQueues {
  readonly #options: LanesOptions
  readonly #lanes = new Map<string, Lane>()
  readonly #held = new Set<number>()
  /** Queues that may be able to start something, in the order of their turns. */
  readonly #turns = new Set<Lane>()
  #inFlight = 0
  #isStarting = false
  #stopped = false
  #idle: (() => void)[] = []

  constructor(options: LanesOptions) {
    this.#options = options
  }

  /** How many more deliveries an endpoint may have in memory, when this many others are about to come. */
  room(endpoint: string, coming = 0): number {
    const lane = this.#lanes.get(endpoint)
    const own = this.#share(lane?.limit ?? this.#limitAtFirst, coming)
    const taken = lane ? lane.waiting.length + lane.busy.size : 0
    return Math.max(0, Math.min(own - taken, this.roomOfAll - coming))
  }

  /** The room of an endpoint that has nothing in memory and is unknown. */
  get roomDefault(): number {
    return this.#share(this.#limitAtFirst, 0)
  }

  get roomOfAll(): number {
    return this.#stopped ? 0 : this.#options.heldMax - this.#held.size
  }

  /** How many deliveries may come at once before the room of each endpoint must be asked for again. */
  get roomAtOnce(): number {
    const beforeScarce = this.#scarceFrom - this.#held.size
    return beforeScarce > 0 ? Math.min(beforeScarce, this.roomOfAll) : this.roomOfAll
  }

  /** The endpoints whose room differs from that of an unknown one. */
  rooms(): Record<string, number> {
    const rooms: Record<string, number> = {}
    for (const { endpoint } of this.#lanes.values()) {
      const room = this.room(endpoint)
      if (room !== this.roomDefault) rooms[endpoint] = room
    }
    return rooms
  }

  /** Ids of all deliveries in memory. */
  held(): readonly number[] {
    return [...this.#held]
  }

  /** Takes a delivery into memory. First attempts of one endpoint and resource are added in order. */
  add(delivery: Delivery): void {
    if (this.#stopped || this.#held.has(delivery.id)) return
    const lane = this.#lane(delivery.endpoint)
    this.#held.add(delivery.id)
    lane.waiting.push(delivery)
    this.#turns.add(lane)
    this.#startSoon()
  }

  /** Drops what is not in flight. */
  forgetWaiting(): void {
    for (const { waiting } of this.#lanes.values()) {
      for (const { id } of waiting.splice(0)) this.#held.delete(id)
    }
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
    if (this.#inFlight > 0) await new Promise<void>((idle) => this.#idle.push(idle))
  }

  get #scarceFrom(): number {
    return Math.ceil(this.#options.heldMax / 2)
  }

  get #limitAtFirst(): number {
    return Math.min(placesAtFirst, this.#options.perEndpointMax)
  }

  /** Once memory is half full, nobody may stock up: the rest is for endpoints that can be sent to at once. */
  #share(limit: number, coming: number): number {
    const isScarce = this.#held.size + coming >= this.#scarceFrom
    return isScarce ? limit : limit * deliveriesPerPlace
  }

  #lane(endpoint: string): Lane {
    let lane = this.#lanes.get(endpoint)
    if (!lane) {
      lane = { endpoint, waiting: [], busy: new Set(), limit: this.#limitAtFirst }
      this.#lanes.set(endpoint, lane)
      if (this.#lanes.size > idleLanesMax) this.#dropIdle()
    }
    return lane
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

  /** One delivery of each queue at a time, as long as there are places; beyond `most`, they start soon. */
  #start(most: number): void {
    let started = 0
    for (const lane of this.#turns) {
      if (this.#inFlight >= this.#options.inFlightMax) return
      if (started === most) return this.#startSoon()
      this.#turns.delete(lane)
      const delivery = nextOf(lane)
      if (!delivery) continue
      started++
      lane.busy.add(delivery.resource)
      this.#inFlight++
      void this.#carryOut(lane, delivery)
      this.#turns.add(lane)
    }
  }

  async #carryOut(lane: Lane, delivery: Delivery): Promise<void> {
    const taken = await this.#options.attempt(delivery)
    lane.limit = taken ? Math.min(lane.limit + 1, this.#options.perEndpointMax) : Math.max(1, lane.limit >> 1)
    lane.busy.delete(delivery.resource)
    this.#held.delete(delivery.id)
    this.#inFlight--
    if (!this.#stopped && lane.waiting.length > 0) this.#turns.add(lane)
    this.#start(this.#options.inFlightMax)
    if (this.#inFlight === 0) for (const idle of this.#idle.splice(0)) idle()
  }

  #dropIdle(): void {
    let looked = 0
    for (const lane of this.#lanes.values()) {
      if (lane.busy.size === 0 && lane.waiting.length === 0) return void this.#lanes.delete(lane.endpoint)
      if (++looked === 100) return
    }
  }
}

/** Takes the oldest delivery out of a queue whose resource has nothing in flight. */
function nextOf(lane: Lane): Delivery | undefined {
  if (lane.busy.size >= lane.limit) return undefined
  const index = lane.waiting.findIndex(({ resource }) => !lane.busy.has(resource))
  return index < 0 ? undefined : lane.waiting.splice(index, 1)[0]
}
