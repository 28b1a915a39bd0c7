import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { BenchDatabase } from './bench.ts'
import { endChild, startProgram } from './children.ts'
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

interface Ready {
  readonly position: { readonly log: number; readonly read_models: number }
}

const lookSoonMs = 20

export async function startService(
  database: BenchDatabase,
  program: Program = 'all-in-one/main',
): Promise<BenchService> {
  const { child, port } = await startProgram(`../../services/${program}`, environmentOf(database))
  return { port, pid: child.pid!, settled, residentMegabytes, close: () => endChild(child) }

  /** The log stands still, and the read models are at its end. */
  async function settled(lookEveryMs = lookSoonMs): Promise<number> {
    const started = performance.now()
    for (let head = -1; ; await pause(lookEveryMs)) {
      const { position } = await ready()
      const stands = position.log === head && position.read_models >= head
      if (stands) return performance.now() - started
      head = position.log
    }
  }

  async function ready(): Promise<Ready> {
    for (;;) {
      const response = await fetch(`http://127.0.0.1:${port}/readyz`)
      const body = (await response.json()) as Ready
      if (response.status === 200 && body.position) return body
      await pause(lookSoonMs)
    }
  }

  function residentMegabytes(): number {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
    return Number(kilobytes) / 1_024
  }
}
