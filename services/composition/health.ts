import { Metrics } from './metrics.ts'

/** Something that a process cannot work without. */
export interface Dependency {
  readonly name: string
  /** Throws when it cannot be reached. */
  readonly ping: () => Promise<unknown>
}

export interface HealthAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

const pingTimeoutMs = 2_000

/** What a process says of itself: `/healthz` it lives, `/readyz` it can work, `/metrics` Prometheus. */
export class Health {
  readonly metrics = new Metrics()
  /** What this process stands for as a leader, and whether it leads. */
  readonly leads = new Map<string, boolean>()
  readonly #dependencies: Dependency[] = []
  readonly #facts: (() => Promise<object>)[] = []
  #isStopping = false

  constructor() {
    const read = async () => Object.fromEntries([...this.leads].map(([name, leads]) => [name, Number(leads)]))
    this.metrics.gauges('leading', '1 where the leader of this name is', { label: 'name', read })
  }

  depend(dependency: Dependency): void {
    this.#dependencies.push(dependency)
  }

  /** Facts that are shown beside the dependencies, as long as these are up. */
  tell(facts: () => Promise<object>): void {
    this.#facts.push(facts)
  }

  /** From now on this process is not ready. */
  stop(): void {
    this.#isStopping = true
  }

  readonly answers: Readonly<Record<string, () => Promise<HealthAnswer>>> = {
    '/healthz': async () => json(200, { status: 'ok' }),
    '/readyz': () => this.#readiness(),
    '/metrics': async () => {
      return { status: 200, contentType: this.metrics.contentType, body: await this.metrics.text() }
    },
  }

  async #readiness(): Promise<HealthAnswer> {
    const checks = await Promise.all(this.#dependencies.map(check))
    const isUp = checks.every(({ status }) => status === 'up')
    const isReady = isUp && !this.#isStopping
    const facts = isUp ? await Promise.all(this.#facts.map((tell) => tell().catch(untold))) : []
    return json(isReady ? 200 : 503, {
      status: this.#isStopping ? 'stopping' : isReady ? 'ready' : 'not ready',
      dependencies: Object.fromEntries(checks.map(({ name, ...result }) => [name, result])),
      ...(this.leads.size > 0 && { leads: Object.fromEntries(this.leads) }),
      ...Object.assign({}, ...facts),
    })
  }
}

function json(status: number, body: object): HealthAnswer {
  return { status, contentType: 'application/json; charset=utf-8', body: JSON.stringify(body) }
}

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
