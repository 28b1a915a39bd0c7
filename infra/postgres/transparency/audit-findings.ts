import type pg from 'pg'
import { fenced, type Fence } from '../consumers/fence.ts'

/** More than these would say nothing new. */
const findingsKept = 100

export interface AuditFinding {
  readonly problem: string
  readonly foundAt: Date
}

/** What the service's auditor has found, oldest first. */
export async function auditFindings(pool: pg.Pool): Promise<readonly AuditFinding[]> {
  const { rows } = await pool.query<AuditFinding>(
    `select problem, found_at as "foundAt" from audit_findings
     order by found_at, problem limit ${findingsKept}`,
  )
  return rows
}

/** Written by the auditor that leads. */
export class AuditFindings {
  readonly #pool: pg.Pool
  readonly #fence: Fence

  constructor(pool: pg.Pool, fence: Fence) {
    this.#pool = pool
    this.#fence = fence
  }

  add(problems: readonly string[], now: Date): Promise<void> {
    return fenced(this.#pool, this.#fence, async (connection) => {
      await connection.query(insertFindings, [problems.slice(0, findingsKept), now])
    })
  }

  /** What the whole log has shown since `begun` replaces what was found before. */
  replace(problems: readonly string[], { begun, now }: { begun: Date; now: Date }): Promise<void> {
    return fenced(this.#pool, this.#fence, async (connection) => {
      await connection.query('delete from audit_findings where found_at < $1 and problem <> all($2)', [
        begun,
        problems,
      ])
      await connection.query(insertFindings, [problems.slice(0, findingsKept), now])
    })
  }
}

const insertFindings = `
  insert into audit_findings (problem, found_at) select problem, $2 from unnest($1::text[]) as found (problem)
  on conflict do nothing`
