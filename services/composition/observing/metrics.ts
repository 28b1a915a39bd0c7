import { setTimeout as pause } from 'node:timers/promises'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

/** Prometheus metrics of this process. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #durations: Histogram

  constructor() {
    collectDefaultMetrics({ register: this.#registry })
    this.#durations = new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from the first byte of a request to its answer',
      labelNames: ['operation', 'status'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers: [this.#registry],
    })
  }

  observe(operation: string, status: number, durationMs: number): void {
    this.#durations.observe({ operation, status }, durationMs / 1000)
  }

  /** A gauge that is read on each scrape; left out when its value cannot be obtained. */
  gauge(name: string, help: string, read: () => Promise<number> | number): void {
    this.#registry.removeSingleMetric(name)
    const readInTime = inTime(read)
    const gauge: Gauge = new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect: async () => {
        gauge.reset()
        const value = await readInTime()
        if (value === undefined) gauge.remove()
        else gauge.set(value)
      },
    })
  }

  /** Durations and ages, counted by how long they are. Registered again, the new one is filled. */
  histogram(name: string, help: string, buckets: number[]): Pick<Histogram, 'observe'> {
    this.#registry.removeSingleMetric(name)
    return new Histogram({ name, help, buckets, registers: [this.#registry] })
  }

  /** A counter kept elsewhere. Registering it again replaces its source. */
  counter(name: string, help: string, read: () => number): void {
    this.#registry.removeSingleMetric(name)
    const counter: Counter = new Counter({
      name,
      help,
      registers: [this.#registry],
      collect: () => {
        counter.reset()
        counter.inc(read())
      },
    })
  }

  /** The same, for several things of one kind. */
  gauges(name: string, help: string, { label, read }: Labelled): void {
    const readInTime = inTime(read)
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [this.#registry],
      collect: async () => {
        const values = (await readInTime()) ?? {}
        gauge.reset()
        for (const [key, value] of Object.entries(values)) gauge.set({ [label]: key }, value)
      },
    })
  }

  /** Counters with several labels. */
  counters(name: string, help: string, { labels, read }: Counted): void {
    this.#registry.removeSingleMetric(name)
    const counter: Counter = new Counter({
      name,
      help,
      labelNames: [...labels],
      registers: [this.#registry],
      collect: () => {
        counter.reset()
        for (const { labels, value } of read()) counter.inc({ ...labels }, value)
      },
    })
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  /** The same numbers for a reader other than Prometheus. */
  scrape(): ReturnType<Registry['getMetricsAsJSON']> {
    return this.#registry.getMetricsAsJSON()
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }
}

export interface Labelled {
  readonly label: string
  /** Values by the label's value. */
  readonly read: () => Promise<Readonly<Record<string, number>>>
}

export interface Counted {
  readonly labels: readonly string[]
  readonly read: () => readonly {
    readonly labels: Readonly<Record<string, string>>
    readonly value: number
  }[]
}

/** Less than anybody who scrapes waits for all of them. */
const readMostMs = 2_000

/**
 * A figure that the database does not give in time keeps no other waiting: it is told the next time somebody
 * asks, and left out until then. It is not asked for again before it has come.
 */
function inTime<Value>(read: () => Promise<Value> | Value): () => Promise<Value | undefined> {
  let reading: Promise<Value | undefined> | undefined
  let late: Value | undefined
  return async () => {
    reading ??= Promise.resolve()
      .then(read)
      .catch(() => undefined)
      .then((value) => {
        reading = undefined
        late = value
        return value
      })
    const known = late
    late = undefined
    const inTime = reading.then((value) => ({ value }))
    const told = await Promise.race([inTime, pause(readMostMs, { value: known }, { ref: false })])
    return told.value
  }
}
