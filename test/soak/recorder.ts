import type { Watched } from './fixture.ts'
import type { Point, Series } from './checker.ts'
import { memoryOf, postgresMemory } from './machine.ts'

export interface SoakTarget {
  readonly watched: readonly Watched[]
  readonly dataDirectory: string
}

const queues = {
  http_requests_in_flight: 'requests in flight',
  postgres_connections_waiting: 'waiting for a connection',
  webhook_deliveries_held: 'deliveries in memory',
  webhook_deliveries_pending: 'deliveries to be made',
} as const
const bytesPerMegabyte = 1_024 * 1_024
/** So that each window of the verdict has a look at what is left after a collection. */
const collectEveryMs = 15_000

/** Every few seconds: memory of each process, lag of each consumer of the log, lengths of queues. */
export class Recorder {
  readonly #target: SoakTarget
  readonly #started = performance.now()
  #collectedAt = -Infinity
  readonly #series = new Map<string, { readonly unit: Series['unit']; readonly points: Point[] }>()

  constructor(target: SoakTarget) {
    this.#target = target
  }

  get series(): readonly Series[] {
    return [...this.#series].map(([name, one]) => ({ name, ...one }))
  }

  of(name: string): number | undefined {
    return this.#series.get(name)?.points.at(-1)?.value
  }

  /** How many events the slowest consumer of the log is behind. */
  get lag(): number {
    return Math.max(
      0,
      ...this.series.filter(({ unit }) => unit === 'events').map(({ name }) => this.of(name)!),
    )
  }

  async look(): Promise<void> {
    const { watched, dataDirectory } = this.#target
    const seconds = (performance.now() - this.#started) / 1_000
    const note = (name: string, unit: Series['unit'], value: number | undefined) => {
      if (value === undefined) return
      const one = this.#series.get(name) ?? { unit, points: [] }
      this.#series.set(name, one)
      one.points.push({ seconds, value })
    }
    this.#collectGarbage()
    const told = await Promise.all(watched.map(({ port }) => metricsOf(port)))
    for (const [index, { name, pid }] of watched.entries()) {
      note(`RSS of ${name}`, 'MB', memoryOf(pid)?.resident)
      const heap = told[index]!.get('nodejs_heap_size_used_bytes')
      note(`heap of ${name}`, 'MB', heap && heap / bytesPerMegabyte)
      for (const [metric, title] of Object.entries(queues)) {
        // All processes tell the same number of what stands in Postgres.
        if (metric === 'webhook_deliveries_pending' && index > 0) continue
        note(watched.length === 1 ? title : `${title}, ${name}`, 'items', told[index]!.get(metric))
      }
    }
    note('own memory of Postgres', 'MB', postgresMemory(dataDirectory))
    const [first = new Map<string, number>()] = told
    const head = first.get('log_position')
    for (const [metric, position] of first) {
      const [, consumer] = /^consumer_position\{consumer="(.+)"\}$/.exec(metric) ?? []
      if (consumer && head !== undefined) note(`lag of ${consumer}`, 'events', Math.max(0, head - position))
    }
  }

  #collectGarbage(): void {
    const now = performance.now()
    if (now - this.#collectedAt < collectEveryMs) return
    this.#collectedAt = now
    for (const { pid } of this.#target.watched) process.kill(pid, 'SIGUSR2')
  }
}

/** Numbers by their names and labels, as a process tells them to Prometheus. */
async function metricsOf(port: number): Promise<Map<string, number>> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
  const lines = (await answer.text()).split('\n').filter((line) => line && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ')
      return [line.slice(0, end), Number(line.slice(end + 1))]
    }),
  )
}
