import type { StoredEvent } from '../../packages/kernel/ports.ts'
import { commitInto } from './commitment.ts'
import { hashBytes } from './hashing.ts'

/** The events behind one position of the log, up to and with another one. */
export interface LogPart {
  readonly after: number
  readonly through: number
}

/** What a tree grows by. */
export interface NewLeaves {
  /** Of their events in the log. */
  readonly positions: readonly number[]
  /** One behind the other. */
  readonly commitments: Buffer
}

/** Those whose events come later in the log than a position. */
export function leavesBehind({ positions, commitments }: NewLeaves, position: number): NewLeaves {
  const found = positions.findIndex((place) => place > position)
  const first = found < 0 ? positions.length : found
  return { positions: positions.slice(first), commitments: commitments.subarray(first * hashBytes) }
}

const roomAtFirst = 256

/** The leaves of events, which are added one by one. */
export class Leaves implements NewLeaves {
  readonly positions: number[] = []
  #bytes = Buffer.allocUnsafeSlow(roomAtFirst * hashBytes)

  get commitments(): Buffer {
    return this.#bytes.subarray(0, this.positions.length * hashBytes)
  }

  /** Throws for an event that is not behind the one before: a leaf can never be taken back. */
  add(event: StoredEvent): void {
    const last = this.positions.at(-1)
    if (last !== undefined && event.position <= last)
      throw new RangeError(`the event at ${event.position} is not behind the one at ${last}`)
    const at = this.positions.length * hashBytes
    if (at === this.#bytes.length) this.#widen()
    commitInto(this.#bytes, at, event)
    this.positions.push(event.position)
  }

  #widen(): void {
    const wider = Buffer.allocUnsafeSlow(2 * this.#bytes.length)
    this.#bytes.copy(wider)
    this.#bytes = wider
  }
}
