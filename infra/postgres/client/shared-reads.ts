import type pg from 'pg'
import { ownerOf, type Owner } from '../../../packages/kernel/owner.ts'
import { ReadTimeoutError, ShareExhaustedError } from '../../../packages/kernel/ports/reads.ts'

/** How many reads one share has in flight, and how many may queue. */
const underWayMax = 2
const waitingMax = 100
/** A read that has waited longer is not started: its caller has usually gone. */
const waitMsMax = 5_000
const queryCanceled = '57014'

interface Waiting {
  readonly begin: () => void
  readonly refuse: (error: Error) => void
  readonly until: number
}

interface Share {
  underWay: number
  readonly waiting: Waiting[]
}

/**
 * Reads whose cost depends on what the caller asks for. They run on connections of their own, with a
 * statement time-out. Each share has a few slots and they take turns, so that one merchant's slow reads delay
 * neither other merchants' nor anything else.
 */
export class SharedReads {
  readonly #pool: pg.Pool
  readonly #connections: number
  /** Waiting callers, in the order of their turns. */
  readonly #shares = new Map<string, Share>()
  #underWay = 0

  constructor(pool: pg.Pool) {
    this.#pool = pool
    this.#connections = pool.options.max
  }

  async query<Row extends pg.QueryResultRow>(name: string, query: pg.QueryConfig): Promise<readonly Row[]> {
    const share = await this.#turn(name)
    try {
      return (await this.#pool.query<Row>(query)).rows
    } catch (error) {
      throw (error as { code?: string }).code === queryCanceled ? new ReadTimeoutError(error) : error
    } finally {
      share.underWay--
      this.#underWay--
      this.#next()
    }
  }

  close(): Promise<void> {
    return this.#pool.end()
  }

  #turn(name: string): Promise<Share> {
    const share = this.#shares.get(name) ?? { underWay: 0, waiting: [] }
    this.#shares.set(name, share)
    return new Promise((resolve, reject) => {
      if (share.waiting.length >= waitingMax) throw new ShareExhaustedError()
      const until = performance.now() + waitMsMax
      share.waiting.push({ begin: () => resolve(share), refuse: reject, until })
      this.#next()
    })
  }

  #next(): void {
    for (const [name, share] of this.#shares) {
      if (this.#underWay >= this.#connections) return
      const next = share.underWay < underWayMax ? this.#waitingOf(share) : undefined
      if (share.underWay + share.waiting.length === 0 && !next) this.#shares.delete(name)
      if (!next) continue
      share.underWay++
      this.#underWay++
      // Goes to the back of the queue for its next turn.
      this.#shares.delete(name)
      this.#shares.set(name, share)
      next.begin()
    }
  }

  #waitingOf({ waiting }: Share): Waiting | undefined {
    for (;;) {
      const next = waiting.shift()
      if (!next || next.until > performance.now()) return next
      next.refuse(new ShareExhaustedError())
    }
  }
}

/** Sandbox load must not slow down live. */
export function shareOf(owner: Owner): string {
  return JSON.stringify(ownerOf(owner))
}
