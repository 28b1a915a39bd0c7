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

/** Whoever asks how a process is learns by then what is known, and what is not. */
const answerMsMax = 2_000
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

  readonly #told = cached(
    () => Promise.all(this.#facts.map((tell) => inTime(tell).catch(untold))),
    readinessKeptMs,
  )

  readonly #alarming = cached(async () => {
    const all = await Promise.all(this.#alarms.map(heard))
    const rings = all.filter(({ reasons }) => reasons.length > 0)
    return {
      alarms: Object.fromEntries(rings.map(({ name, reasons }) => [name, reasons])),
      unheard: all.filter(({ unheard }) => unheard).map(({ name, unheard }) => ({ name, reason: unheard })),
    }
  }, readinessKeptMs)

  #status(isUp: boolean): ReadinessStatus {
    if (this.#isStopping) return 'stopping'
    return isUp ? 'ready' : 'not ready'
  }

  async #readiness(): Promise<HealthAnswer> {
    const { checks, isUp } = await this.#checks()
    const [facts, { alarms, unheard }] = isUp
      ? await Promise.all([this.#told(), this.#alarming()])
      : [[], { alarms: {}, unheard: [] }]
    return readiness(this.#status(isUp && Object.keys(alarms).length === 0), {
      ...(Object.keys(alarms).length > 0 && { alarms }),
      ...(unheard.length > 0 && { alarms_unread: unheard }),
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

/** An alarm that nobody can read does not ring, but is no silence either. */
async function heard({ name, read }: Alarm): Promise<Heard> {
  try {
    return { name, reasons: await inTime(read), unheard: undefined }
  } catch (error) {
    return { name, reasons: [], unheard: String(error) }
  }
}

interface Heard {
  readonly name: string
  readonly reasons: readonly string[]
  readonly unheard: string | undefined
}

async function check({ name, ping }: Dependency) {
  try {
    await inTime(ping)
    return { name, status: 'up' as const }
  } catch (error) {
    return { name, status: 'down' as const, reason: (error as Error).message }
  }
}

function inTime<Value>(ask: () => Promise<Value>): Promise<Value> {
  const isLate = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('no answer in time')), answerMsMax).unref()
  })
  return Promise.race([ask(), isLate])
}
