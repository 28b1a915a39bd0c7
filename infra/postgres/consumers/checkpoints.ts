import type pg from 'pg'
import { fenced, fencedStatement, LeadershipLostError, type TermFence } from './fence.ts'

export interface Checkpoint {
  /** Everything up to here is done. */
  readonly position: number
  /** Work in the outside world may have been started up to here. */
  readonly attempted: number
}

/** What was passed is saved when nothing else was for so long, or so long after the first of it. */
const passedMs = { quiet: 30, most: 250 }

/** Checkpoints of the log's consumers other than read models. Only the leader moves them. */
export class Checkpoints {
  readonly #pool: pg.Pool
  readonly #fence: TermFence | undefined
  /** By consumer: positions that are not saved yet. */
  readonly #passed = new Map<string, number>()
  #saving: NodeJS.Timeout | undefined
  #latestAt = 0
  #written: Promise<void> = Promise.resolve()

  constructor(pool: pg.Pool, fence?: TermFence) {
    this.#pool = pool
    this.#fence = fence
  }

  load(name: string): Promise<Checkpoint> {
    return fenced(this.#pool, this.#fence, async (connection) => {
      const begin = 'insert into checkpoints (name, position) values ($1, 0) on conflict do nothing'
      await connection.query(begin, [name])
      const text = 'select position, attempted from checkpoints where name = $1'
      const { rows } = await connection.query<Checkpoint>(text, [name])
      return rows[0]!
    })
  }

  /** Where the last of these consumers stands; those that have never begun do not count. */
  async least(names: readonly string[]): Promise<number> {
    const text = 'select min(position) as position from checkpoints where name = any($1)'
    const { rows } = await this.#pool.query<{ position: number | null }>({
      name: 'least-checkpoint',
      text,
      values: [names],
    })
    return rows[0]!.position ?? Infinity
  }

  async attempt(name: string, through: number): Promise<void> {
    await fencedStatement(this.#pool, this.#fence, { text: attempt, values: [name, through] })
  }

  async save(name: string, position: number): Promise<void> {
    await this.#move([[name, position]])
    if ((this.#passed.get(name) ?? Infinity) <= position) this.#passed.delete(name)
  }

  /**
   * Nothing had to be done up to here. It is saved soon, together with more: whoever goes on from an older
   * position passes the same events again.
   */
  passed(name: string, position: number): void {
    if (this.#passed.size === 0) this.#latestAt = performance.now() + passedMs.most
    this.#passed.set(name, position)
    if (!this.#saving) this.#saving = setTimeout(() => this.#savePassed(), passedMs.quiet).unref()
    else if (performance.now() + passedMs.quiet < this.#latestAt) this.#saving.refresh()
  }

  /** Saves what was passed. */
  async close(): Promise<void> {
    clearTimeout(this.#saving)
    this.#savePassed()
    await this.#written
    clearTimeout(this.#saving)
  }

  #savePassed(): void {
    this.#saving = undefined
    const passed = [...this.#passed]
    if (passed.length === 0) return
    this.#passed.clear()
    // One after the other: two that move the same checkpoints could each wait for the other.
    const moved = this.#written.then(() => this.#move(passed))
    this.#written = moved.catch((error: unknown) => {
      // The next leader passes it again.
      if (error instanceof LeadershipLostError) return
      for (const [name, position] of passed) if (!this.#passed.has(name)) this.passed(name, position)
    })
  }

  /** Never back: what was passed may arrive behind what was done after it. */
  async #move(done: readonly (readonly [name: string, position: number])[]): Promise<void> {
    const values = [done.map(([name]) => name), done.map(([, position]) => position)]
    await fencedStatement(this.#pool, this.#fence, { text: move, values })
  }
}

const move = `
  update checkpoints set position = greatest(checkpoints.position, done.position), updated_at = now()
  from held, unnest($2::text[], $3::bigint[]) as done (name, position)
  where held.goes_on and checkpoints.name = done.name`

const attempt = `
  update checkpoints set attempted = greatest(attempted, $3::bigint) from held
  where held.goes_on and name = $2`
