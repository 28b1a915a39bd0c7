import { cached } from '../cached.ts'
import { Metrics } from './metrics.ts'

/** Something that a process cannot work without. */
export interface Dependency {
  readonly name: string
  /** Throws when it cannot be reached. */
  readonly ping: () => Promise<unknown>
}

/** Reasons, each a sentence, for which somebody must come; none when all is well. */
export interface Alarm {
  readonly name: string
  readonly read: () => Promise<readonly string[]>
}

export interface HealthAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

/** By path. */
export type HealthAnswers = Readonly<Record<string, () => Promise<HealthAnswer>>>

const pingTimeoutMs = 2_000
/** However often health is requested, engines and database are asked only this often. */
const readinessKeptMs = 250
const metricsKeptMs = 1_000

/** Health of a process: `/healthz` it is alive, `/readyz` it can work, `/metrics` for Prometheus. */
export class Health {
  readonly metrics = new Metrics()
  /** The roles that this process is a candidate for, and whether it leads. */
  readonly leads = new Map<string, boolean>()
  readonly #dependencies: Dependency[] = []
  readonly #facts: (() => Promise<object>)[] = []
  readonly #alarms: Alarm[] = []
  #isStopping = false

  constructor() {
    const read = async () => Object.fromEntries([...this.leads].map(([name, leads]) => [name, Number(leads)]))
    this.metrics.gauges('leading', '1 where the leader of this name is', { label: 'name', read })
  }

  depend(dependency: Dependency): void {
    this.#dependencies.push(dependency)
  }

  /** Facts shown beside the dependencies while these are up. */
  tell(facts: () => Promise<object>): void {
    this.#facts.push(facts)
  }

  /** Something that people must look at, though this process can work: it is ready for balancers only. */
  alarm(alarm: Alarm): void {
    this.#alarms.push(alarm)
  }

  /** From now on this process is not ready. */
  stop(): void {
    this.#isStopping = true
  }

  /** Detailed answers for operators: on HEALTH_PORT, which strangers cannot reach. */
  readonly answers: HealthAnswers = {
    '/healthz': async () => living,
    '/readyz': () => this.#readiness(),
    '/metrics': cached(async () => {
      return { status: 200, contentType: this.metrics.contentType, body: await this.metrics.text() }
    }, metricsKeptMs),
  }

  /** For load balancers and everybody else: alive, and ready or not. */
  readonly publicAnswers: HealthAnswers = {
    '/healthz': async () => living,
    '/readyz': async () => readiness(this.#status((await this.#checks()).isUp)),
  }

  readonly #checks = cached(async () => {
    const checks = await Promise.all(this.#dependencies.map(check))
    return { checks, isUp: checks.every(({ status }) => status === 'up') }
  }, readinessKeptMs)

  readonly #told = cached(() => Promise.all(this.#facts.map((tell) => tell().catch(untold))), readinessKeptMs)

  readonly #alarming = cached(async () => {
    const read = async ({ name, read }: Alarm) => [name, await read().catch(() => [])] as const
    const all = await Promise.all(this.#alarms.map(read))
    return Object.fromEntries(all.filter(([, reasons]) => reasons.length > 0))
  }, readinessKeptMs)

  #status(isUp: boolean): ReadinessStatus {
    if (this.#isStopping) return 'stopping'
    return isUp ? 'ready' : 'not ready'
  }

  async #readiness(): Promise<HealthAnswer> {
    const { checks, isUp } = await this.#checks()
    const facts = isUp ? await this.#told() : []
    const alarms = isUp ? await this.#alarming() : {}
    return readiness(this.#status(isUp && Object.keys(alarms).length === 0), {
      ...(Object.keys(alarms).length > 0 && { alarms }),
      dependencies: Object.fromEntries(checks.map(({ name, ...result }) => [name, result])),
      ...(this.leads.size > 0 && { leads: Object.fromEntries(this.leads) }),
      ...Object.assign({}, ...facts),
    })
  }
}

type ReadinessStatus = 'ready' | 'not ready' | 'stopping'

function readiness(status: ReadinessStatus, details: object = {}): HealthAnswer {
  return json(status === 'ready' ? 200 : 503, { status, ...details })
}

function json(status: number, body: object): HealthAnswer {
  return { status, contentType: 'application/json; charset=utf-8', body: JSON.stringify(body) }
}

const living = json(200, { status: 'ok' })

function untold(error: unknown): object {
  return { facts: String(error) }
}

async function check({ name, ping }: Dependency) {
  const isLate = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('no answer in time')), pingTimeoutMs).unref()
  })
  try {
    await Promise.race([ping(), isLate])
    return { name, status: 'up' as const }
  } catch (error) {
    return { name, status: 'down' as const, reason: (error as Error).message }
  }
}
