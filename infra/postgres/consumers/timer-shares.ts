import type pg from 'pg'
import { fenceOf, LeadershipLostError, type Fence, type Term } from './fence.ts'
import { lookEveryMs, LockSession, tryLock, unlock } from './lock-session.ts'

/** Processes divide the timers among themselves by owner, in this many shares. */
export const timerShares = 8
export const shareNames = Array.from({ length: timerShares }, (_, share) => `timers ${share}`)

/** Any number: shared by the sessions of all processes that run timers, so that they can be counted. */
const runnersLock = 1_953_066_354
const countStatement = `
  select count(*)::integer as runners from pg_locks
  where locktype = 'advisory' and classid = ${runnersLock} and objsubid = 2 and granted
    and database = (select oid from pg_database where datname = current_database())`

export interface Runner {
  readonly pool: pg.Pool
  /** For people. */
  readonly instance: string
}

/**
 * The shares of the timers that this process runs: as many as are its part, whoever comes and goes. They are
 * held like leaderships (decision 7), all by one session.
 */
export class TimerShares {
  readonly #runner: Runner
  readonly #held = new Map<number, Term>()
  /** Of these, what is more than this process's part, and since when it is (`performance.now`). */
  readonly #leaving = new Map<number, number>()
  #session: LockSession | undefined
  #balancedAt = Number.NEGATIVE_INFINITY
  #isClosed = false
  #fence: Fence | undefined

  constructor(runner: Runner) {
    this.#runner = runner
  }

  get held(): readonly number[] {
    return [...this.#held.keys()].filter((share) => !this.#leaving.has(share))
  }

  /**
   * For transactions about timers of the shares that are held now. Lost ones do not count when they return.
   */
  fenceNow(): Fence {
    return this.#fence ?? holdsNothing
  }

  /** Before effects that no transaction can fence: throws LeadershipLostError unless the shares are held. */
  assertHeld(): void {
    if (!this.#session) throw new LeadershipLostError('timers')
    this.#session.assertHeld('timers')
  }

  /**
   * Takes what is free, gives back what is more than this process's part; at most once a second. Another
   * process would run at once what is under way since `busySince` (`performance.now`): what is given back is
   * no longer held at first, and free only when all that had begun by then is over.
   */
  async balance({ busySince = Infinity } = {}): Promise<void> {
    if (this.#session?.over.aborted) await this.#lose()
    if (this.#isClosed || performance.now() - this.#balancedAt < lookEveryMs) return
    this.#balancedAt = performance.now()
    try {
      const session = (this.#session ??= await this.#open())
      const part = Math.ceil(timerShares / (await runnersOf(session.client)))
      await this.#giveBack(session, part, busySince)
      await this.#take(session, part)
    } catch {
      // Whatever went wrong, this connection is useless: the next one is tried at the next look.
      await this.#lose()
    }
  }

  /** After the last timer has ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#lose()
  }

  async #open(): Promise<LockSession> {
    const session = new LockSession(this.#runner.pool)
    try {
      await session.open()
      await session.client.query(`select pg_advisory_lock_shared(${runnersLock}, 0)`)
      session.watch()
      return session
    } catch (error) {
      await session.end()
      throw error
    }
  }

  async #take(session: LockSession, part: number): Promise<void> {
    for (const [share, name] of shareNames.entries()) {
      if (this.#held.size >= part) break
      if (this.#held.has(share) || !(await tryLock(session.client, name))) continue
      this.#held.set(share, { name, epoch: await session.elect(name, this.#runner.instance) })
    }
    const terms = this.held.map((share) => this.#held.get(share)!)
    this.#fence = fenceOf(terms, session.finish)
  }

  async #giveBack(session: LockSession, part: number, busySince: number): Promise<void> {
    const surplus = [...this.#held].slice(part)
    const since = new Map(surplus.map(([share]) => [share, this.#leaving.get(share) ?? performance.now()]))
    this.#leaving.clear()
    for (const [share, { name }] of surplus) {
      if (busySince <= since.get(share)!) this.#leaving.set(share, since.get(share)!)
      else {
        this.#held.delete(share)
        await unlock(session.client, name)
      }
    }
  }

  async #lose(): Promise<void> {
    const session = this.#session
    this.#session = undefined
    this.#fence = undefined
    this.#held.clear()
    this.#leaving.clear()
    await session?.end()
  }
}

const holdsNothing: Fence = async () => {
  throw new LeadershipLostError('timers')
}

async function runnersOf(connection: pg.ClientBase): Promise<number> {
  const { rows } = await connection.query<{ runners: number }>(countStatement)
  return rows[0]!.runners
}
