import type pg from 'pg'

export interface Checkpoint {
  /** Everything up to here is done. */
  readonly position: number
  /** Work in the outside world may have been begun up to here. */
  readonly attempted: number
}

/** How far consumers of the log have come, other than read models. */
export class Checkpoints {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  async load(name: string): Promise<Checkpoint> {
    await this.#pool.query('insert into checkpoints (name, position) values ($1, 0) on conflict do nothing', [name])
    const { rows } = await this.#pool.query<Checkpoint>('select position, attempted from checkpoints where name = $1', [name])
    return rows[0]!
  }

  async attempt(name: string, through: number): Promise<void> {
    await this.#pool.query('update checkpoints set attempted = greatest(attempted, $2) where name = $1', [name, through])
  }

  async save(name: string, position: number): Promise<void> {
    await this.#pool.query('update checkpoints set position = $2, updated_at = now() where name = $1', [name, position])
  }
}
