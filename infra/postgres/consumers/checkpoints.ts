import type pg from 'pg'
import { fenced, type Fence } from './fence.ts'

export interface Checkpoint {
  /** Everything up to here is done. */
  readonly position: number
  /** Work in the outside world may have been started up to here. */
  readonly attempted: number
}

/** Checkpoints of the log's consumers other than read models. Only the leader moves them. */
export class Checkpoints {
  readonly #pool: pg.Pool
  readonly #fence: Fence | undefined

  constructor(pool: pg.Pool, fence?: Fence) {
    this.#pool = pool
    this.#fence = fence
  }

  load(name: string): Promise<Checkpoint> {
    return this.#write(async (connection) => {
      const begin = 'insert into checkpoints (name, position) values ($1, 0) on conflict do nothing'
      await connection.query(begin, [name])
      const text = 'select position, attempted from checkpoints where name = $1'
      const { rows } = await connection.query<Checkpoint>(text, [name])
      return rows[0]!
    })
  }

  async attempt(name: string, through: number): Promise<void> {
    const text = 'update checkpoints set attempted = greatest(attempted, $2) where name = $1'
    await this.#write((connection) => connection.query(text, [name, through]))
  }

  async save(name: string, position: number): Promise<void> {
    const text = 'update checkpoints set position = $2, updated_at = now() where name = $1'
    await this.#write((connection) => connection.query(text, [name, position]))
  }

  #write<Result>(work: (connection: pg.ClientBase) => Promise<Result>): Promise<Result> {
    return fenced(this.#pool, this.#fence, work)
  }
}
