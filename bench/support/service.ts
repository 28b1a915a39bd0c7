import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { BenchDatabase } from './bench.ts'
import { endChild, startProgram, type ProgramOptions } from './children.ts'
import { delaysIn, type Delays } from './consumer-delays.ts'
import { openLog } from './log.ts'
import { environmentOf } from './merchants.ts'
import { usageOf, type Usage } from './report/usage.ts'

/** The whole service as `make run` starts it, or only its API. */
export type Program = 'all-in-one/main' | 'api/serve'

/** A service in a process of its own. */
export interface BenchService extends Usage {
  readonly port: number
  readonly pid: number
  /**
   * Waits until all background work is done; returns how long that took. What the simulated operators do
   * later on their own shows only after a longer wait.
   */
  settled(lookEveryMs?: number): Promise<number>
  /** How late its consumers were so far; only the whole service tells. */
  delays(): Promise<Delays>
  /** Since when its auditor has not compared what was signed, in seconds. */
  auditAge(): Promise<number>
  close(): Promise<void>
}

interface Progress {
  /** Position of the newest event. */
  readonly head: number
  /** Checkpoint of the consumer that is furthest behind. */
  readonly least: number
}

const lookSoonMs = 20

export async function startService(
  database: BenchDatabase,
  program: Program = 'all-in-one/main',
  options: Pick<ProgramOptions, 'isBehind'> = {},
): Promise<BenchService> {
  const file = `../../services/${program}`
  const { child, port, healthPort } = await startProgram(file, environmentOf(database), options)
  const pool = new pg.Pool({ connectionString: database.url, max: 1 })
  const log = database.eventStore && (await openLog(database))
  const { pid = 0 } = child
  return { port, pid, ...usageOf(pid), ...metricsAt(healthPort), settled, close }

  /** The log stands still, and every consumer has reached its end. */
  async function settled(lookEveryMs = lookSoonMs): Promise<number> {
    const started = performance.now()
    for (let seen = -1; ; await pause(lookEveryMs)) {
      const { head, least } = await progress()
      if (head === seen && least >= head) return performance.now() - started
      seen = head
    }
  }

  /** A consumer saves its checkpoint once everything that follows from it is written; so does the notary. */
  async function progress(): Promise<Progress> {
    const head = await log?.head()
    const text = `
      select (select max(position) from events)::float8 as head, min(position)::float8 as least
      from (select position from checkpoints union all select max(position) from log_checkpoints) as reached`
    const { rows } = await pool.query<Progress>(text)
    return head === undefined ? rows[0]! : { ...rows[0]!, head }
  }

  async function close(): Promise<void> {
    await pool.end()
    await log?.close()
    await endChild(child)
  }
}

function metricsAt(healthPort: number): Pick<BenchService, 'delays' | 'auditAge'> {
  const told = async () => (await fetch(`http://127.0.0.1:${healthPort}/metrics`)).text()
  return {
    delays: async () => delaysIn(await told()),
    auditAge: async () => Number(/^audit_new_events_age_seconds (\S+)$/m.exec(await told())?.[1]),
  }
}
