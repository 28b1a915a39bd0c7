import type pg from 'pg'
import { fenced, type Fence } from '../consumers/fence.ts'

/** So many are named, and all others counted: they would say nothing new. */
const namedMax = 100

export interface AuditFinding {
  readonly problem: string
  /** PostgreSQL's text. */
  readonly foundAt: string
}

export interface KnownFindings {
  /** Oldest first. */
  readonly named: readonly AuditFinding[]
  /** How many more there are. */
  readonly unnamed: number
}

/** What the service's auditor has found. */
export async function auditFindings(pool: pg.Pool): Promise<KnownFindings> {
  const { rows: named } = await pool.query<AuditFinding>(
    'select problem, found_at as "foundAt" from audit_findings order by found_at, problem',
  )
  const { rows } = await pool.query<{ unnamed: number }>('select unnamed::float8 as unnamed from audit_state')
  return { named, unnamed: rows[0]?.unnamed ?? 0 }
}

/** How far new events were compared with what was signed of them. */
export interface ComparedEvents {
  readonly size: number
  /** Of the last of them in the log. */
  readonly position: number
  /** Of the tree over them; left out where they were others than those of the tree. */
  readonly root?: Buffer
}

/** Written by the auditor that leads. Times are those of the database: clocks of processes differ. */
export class AuditFindings {
  readonly #pool: pg.Pool
  readonly #fence: Fence

  constructor(pool: pg.Pool, fence: Fence) {
    this.#pool = pool
    this.#fence = fence
  }

  /** PostgreSQL's text. */
  async now(): Promise<string> {
    const { rows } = await this.#pool.query<{ now: string }>('select now() as now')
    return rows[0]!.now
  }

  /** `undefined` where nobody has compared anything yet. */
  async compared(): Promise<ComparedEvents | undefined> {
    const { rows } = await this.#pool.query<{ size: number | null; position: number; root: Buffer | null }>(
      'select size::float8 as size, position::float8 as position, root from audit_state',
    )
    const { size = null, position = 0, root = null } = rows[0] ?? {}
    return size === null ? undefined : { size, position, ...(root && { root }) }
  }

  /** In one transaction, so that whoever goes on from there has lost nothing. */
  add(problems: readonly string[], compared?: ComparedEvents): Promise<void> {
    return fenced(this.#pool, this.#fence, async (connection) => {
      if (problems.length > 0) await connection.query(insertFindings, [problems])
      if (!compared) return
      const { size, position, root = null } = compared
      await connection.query('update audit_state set size = $1, position = $2, root = $3', [
        size,
        position,
        root,
      ])
    })
  }

  /** What the whole log has shown since `begun` replaces what was found before. */
  replace(problems: readonly string[], begun: string): Promise<void> {
    return fenced(this.#pool, this.#fence, async (connection) => {
      await connection.query('delete from audit_findings where found_at < $1 and problem <> all($2)', [
        begun,
        problems,
      ])
      await connection.query('update audit_state set unnamed = 0 where unnamed_at < $1', [begun])
      await connection.query(insertFindings, [problems])
    })
  }
}

const insertFindings = `
  with fresh as (
    select problem, row_number() over (order by place) + (select count(*) from audit_findings) as number
    from (
      select problem, min(place) as place from unnest($1::text[]) with ordinality as found (problem, place)
      group by problem
    ) as found
    where not exists (select from audit_findings known where known.problem = found.problem)
  ), named as (
    insert into audit_findings (problem, found_at) select problem, now() from fresh where number <= ${namedMax}
  )
  update audit_state set unnamed = unnamed + more.count, unnamed_at = now()
  from (select count(*) as count from fresh where number > ${namedMax}) as more where more.count > 0`
