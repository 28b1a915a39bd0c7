/** To be awaited before each piece of work; `undefined`: it is this work's turn. */
export type GiveWay = () => Promise<void> | undefined

/** So long nobody else has the event loop. A request needs it several times, and may wait each time. */
const turnMs = 1
/** After others have had it for longer, as for their parts of a request. */
const turnMostMs = 4
/** Of what others had. With as much as they, a whole service paid out a fifth less. */
const turnShare = 1 / 4

type Lane = (() => void)[]

/**
 * Requests go first: work that nobody waits for has the event loop for a turn at a time, a quarter of what
 * others had since the last one, so that neither starves. Turns go around among the lanes, one for each kind
 * of work, however many pieces of it wait at once.
 */
export class Turns {
  /** In which something waits. */
  readonly #lanes = new Set<Lane>()
  #current: Lane | undefined
  /** A piece was let in and has not begun: it is not known yet how long it takes. */
  #isBeginning = false
  #endsAt = 0
  #endedAt = Number.POSITIVE_INFINITY

  lane(): GiveWay {
    const lane: Lane = []
    return () => {
      if (this.#isTurnOf(lane)) return undefined
      this.#lanes.add(lane)
      return new Promise((resolve) => lane.push(resolve))
    }
  }

  #isTurnOf(lane: Lane): boolean {
    if (!this.#current) this.#begin(lane)
    if (this.#current !== lane || lane.length > 0 || this.#isBeginning) return false
    if (performance.now() >= this.#endsAt) return false
    this.#isBeginning = true
    queueMicrotask(() => (this.#isBeginning = false))
    return true
  }

  #begin(lane: Lane): void {
    const now = performance.now()
    this.#current = lane
    this.#endsAt = now + Math.min(turnMostMs, Math.max(turnMs, (now - this.#endedAt) * turnShare))
    // When this turn's microtasks and ticks are done: from then on others have the event loop.
    queueMicrotask(() => process.nextTick(() => (this.#endedAt = performance.now())))
    setImmediate(() => void this.#next())
  }

  /** The event loop has looked for requests and answers. */
  async #next(): Promise<void> {
    this.#current = undefined
    const [lane] = this.#lanes
    if (!lane) {
      this.#endedAt = Number.POSITIVE_INFINITY
      return
    }
    this.#lanes.delete(lane)
    this.#begin(lane)
    // One piece at least: the system may have taken the processor away for the whole turn.
    do {
      lane.shift()!()
      // Lets it do its piece.
      await undefined
    } while (lane.length > 0 && performance.now() < this.#endsAt)
    // Pieces of this turn may have entered it again, to wait.
    this.#lanes.delete(lane)
    if (lane.length > 0) this.#lanes.add(lane)
  }
}
