import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** Prometheus metrics of this process. */
export class Metrics {
  readonly registry = new Registry()
  readonly #durations: Histogram

  constructor() {
    collectDefaultMetrics({ register: this.registry })
    this.#durations = new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from the first byte of a request to its answer',
      labelNames: ['operation', 'status'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers: [this.registry],
    })
  }

  observe(operation: string, status: number, durationMs: number): void {
    this.#durations.observe({ operation, status }, durationMs / 1000)
  }

  /** A number that is asked for when the metrics are read. */
  gauge(name: string, help: string, read: () => Promise<number> | number): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      registers: [this.registry],
      collect: async () => gauge.set(await read()),
    })
  }
}
