import { setTimeout as pause } from 'node:timers/promises'
import { AuditFindings } from '../../infra/postgres/transparency/audit-findings.ts'
import { vouchedKeys } from '../../infra/postgres/transparency/log-keys.ts'
import { noteUpkeep } from '../../infra/postgres/upkeep.ts'
import type { LeaderTerm } from '../../infra/postgres/consumers/leader.ts'
import type { Subscription } from '../../packages/kernel/ports.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { leading } from '../composition/leading.ts'
import { auditWholeLog, NewEvents, type Audited } from './audit-log.ts'

export interface AuditorOptions {
  readonly newEventsEveryMs: number
  /** Before the whole log is looked at for the first time: a service that has just begun has other work. */
  readonly wholeLogAfterMs: number
  readonly wholeLogEveryMs: number
  /** Part of the time of one processor: of the whole log always, of new events while there is other work. */
  readonly share: number
}

const usual: AuditorOptions = {
  newEventsEveryMs: 2_000,
  wholeLogAfterMs: 5 * 60_000,
  wholeLogEveryMs: 86_400_000,
  share: 0.05,
}

/**
 * Reads again what was written, and compares it with what was signed and what is shown. What is wrong stands
 * in `audit_findings`, from where every process tells it, until the whole log is found right again.
 */
export function runAuditor(runtime: Runtime, options: Partial<AuditorOptions> = {}): Subscription {
  return leading(runtime, 'auditor', async (term) => {
    const stop = new AbortController()
    const auditor = new Auditor(runtime, term, { ...usual, ...options })
    const loops = [auditor.newEvents(stop.signal), auditor.wholeLog(stop.signal)]
    return {
      close: async () => {
        stop.abort()
        await Promise.all(loops)
      },
    }
  })
}

class Auditor {
  readonly #runtime: Runtime
  readonly #options: AuditorOptions
  readonly #audited: Audited
  readonly #findings: AuditFindings
  /** When all that was signed by then had been compared; by the clock of the process. */
  #comparedMs = performance.now()

  constructor(runtime: Runtime, { fence }: LeaderTerm, options: AuditorOptions) {
    const { postgres, asStored: stored, dependencies, configuration, turns } = runtime
    const { pool } = postgres
    const { vault, store, clock: now } = dependencies
    this.#runtime = runtime
    this.#options = options
    this.#findings = new AuditFindings(pool, fence)
    const witnesses = configuration.witnesses.map(({ verifierKey }) => verifierKey)
    this.#audited = {
      ...{ pool, stored, store, now, witnesses, directory: configuration.dataDirectory },
      verifierKeys: () => vouchedKeys({ pool, vault }),
      giveWay: turns.lane(),
    }
  }

  newEvents(signal: AbortSignal): Promise<void> {
    const { newEventsEveryMs: everyMs, share } = this.#options
    const newEvents = new NewEvents(this.#audited, this.#findings, { share, signal })
    this.#tellAge(signal)
    return this.#again({ firstMs: everyMs, everyMs, signal }, async () => {
      const begunMs = performance.now()
      this.#told(await newEvents.look())
      this.#comparedMs = begunMs
    })
  }

  wholeLog(signal: AbortSignal): Promise<void> {
    const { wholeLogAfterMs: firstMs, wholeLogEveryMs: everyMs, share } = this.#options
    return this.#again({ firstMs, everyMs, signal }, async () => {
      const { now, pool } = this.#audited
      const [at, begun] = [now(), await this.#findings.now()]
      const { problems, position, uncompared } = await auditWholeLog(this.#audited, { share, signal })
      this.#told(problems)
      if (uncompared !== undefined) {
        this.#runtime.dependencies.log.error({ reason: uncompared }, 'the read models are not audited')
        return this.#findings.add(problems)
      }
      await this.#findings.replace(problems, begun)
      await noteUpkeep(pool, { task: 'audit', position, at })
    })
  }

  /** Told by the process whose auditor leads. */
  #tellAge(signal: AbortSignal): void {
    const help = 'Since when the auditor has not compared what was signed'
    this.#runtime.health.metrics.gauge('audit_new_events_age_seconds', help, () => {
      signal.throwIfAborted()
      return (performance.now() - this.#comparedMs) / 1_000
    })
  }

  #told(problems: readonly string[]): void {
    for (const problem of problems)
      this.#runtime.dependencies.log.error(
        { problem },
        'the log is not what was signed, or is shown otherwise',
      )
  }

  /** What fails, mostly because the database is away, is done again as soon as for the first time. */
  async #again({ firstMs, everyMs, signal }: Schedule, work: () => Promise<void>): Promise<void> {
    let waitMs = firstMs
    for (;;) {
      await pause(waitMs, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      waitMs = await work().then(
        () => everyMs,
        (error: unknown) => {
          if (!signal.aborted) this.#runtime.dependencies.log.warn({ error }, 'the audit is tried again')
          return firstMs
        },
      )
    }
  }
}

interface Schedule {
  readonly firstMs: number
  readonly everyMs: number
  readonly signal: AbortSignal
}
