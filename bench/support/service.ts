import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { BenchDatabase } from './bench.ts'
import { endChild, startProgram } from './children.ts'
import { openLog } from './log.ts'
import { environmentOf } from './merchants.ts'

/** The whole service, as `make run` starts it, or only its API. */
export type Program = 'all-in-one/main' | 'api/serve'

/** A service in a process of its own. */
export interface BenchService {
  readonly port: number
  readonly pid: number
  /**
   * Waits until nothing is left to be done in the background; answers how long that took. What simulated
   * operators do by themselves later shows only to who looks for longer than they take.
   */
  settled(lookEveryMs?: number): Promise<number>
  residentMegabytes(): number
  close(): Promise<void>
}

interface Progress {
  /** Position of the newest event. */
  readonly head: number
  /** How far the consumer of the log that is furthest behind has come. */
  readonly least: number
}

const lookSoonMs = 20

export async function startService(
  database: BenchDatabase,
  program: Program = 'all-in-one/main',
): Promise<BenchService> {
  const { child, port } = await startProgram(`../../services/${program}`, environmentOf(database))
  const pool = new pg.Pool({ connectionString: database.url, max: 1 })
  const log = database.eventStore && (await openLog(database))
  return { port, pid: child.pid!, settled, residentMegabytes, close }

  /** The log stands still, and all that follow it are at its end. */
  async function settled(lookEveryMs = lookSoonMs): Promise<number> {
    const started = performance.now()
    for (let seen = -1; ; await pause(lookEveryMs)) {
      const { head, least } = await progress()
      if (head === seen && least >= head) return performance.now() - started
      seen = head
    }
  }

  /** Whoever follows the log saves how far it has come when all that followed from it is written. */
  async function progress(): Promise<Progress> {
    const head = await log?.head()
    const text = `
      select (select max(position) from events)::float8 as head, min(position)::float8 as least from checkpoints`
    const { rows } = await pool.query<Progress>(text)
    return head === undefined ? rows[0]! : { ...rows[0]!, head }
  }

  async function close(): Promise<void> {
    await pool.end()
    await log?.close()
    await endChild(child)
  }

  function residentMegabytes(): number {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
    return Number(kilobytes) / 1_024
  }
}
