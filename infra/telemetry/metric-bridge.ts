import { ValueType, type HrTime } from '@opentelemetry/api'
import { metrics, resources } from '@opentelemetry/sdk-node'

/** A metric as prom-client reports it. */
export interface Scraped {
  readonly name: string
  readonly help: string
  /** `counter`, `gauge`, `histogram` or `summary`. */
  readonly type: unknown
  readonly values: readonly {
    readonly value: number
    readonly labels: Readonly<Partial<Record<string, string | number>>>
    /** In a histogram: its name with `_bucket`, `_sum` or `_count`. */
    readonly metricName?: string
  }[]
}

export type Scrape = () => Promise<readonly Scraped[]>

/** Exposes Prometheus's numbers to OpenTelemetry: each fact is counted once. */
export function metricProducer(scrape: Scrape): metrics.MetricProducer {
  const startTime = now()
  return {
    async collect() {
      const endTime = now()
      const found = (await scrape()).flatMap((scraped) => dataOf(scraped, { startTime, endTime }))
      const scopeMetrics = [{ scope: { name: 'ikw-payments' }, metrics: found }]
      return { resourceMetrics: { resource: resources.emptyResource(), scopeMetrics }, errors: [] }
    },
  }
}

interface Times {
  readonly startTime: HrTime
  readonly endTime: HrTime
}

function dataOf(scraped: Scraped, times: Times): readonly metrics.MetricData[] {
  const { name, help: description, type, values } = scraped
  const common = {
    descriptor: { name, description, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: metrics.AggregationTemporality.CUMULATIVE,
  }
  const points = values.map(({ value, labels }) => ({ ...times, attributes: { ...labels }, value }))
  const { GAUGE, SUM, HISTOGRAM } = metrics.DataPointType
  if (type === 'gauge') return [{ ...common, dataPointType: GAUGE, dataPoints: points }]
  if (type === 'counter') return [{ ...common, dataPointType: SUM, isMonotonic: true, dataPoints: points }]
  if (type !== 'histogram') return []
  return [{ ...common, dataPointType: HISTOGRAM, dataPoints: histograms(scraped, times) }]
}

function histograms({ name, values }: Scraped, times: Times): metrics.DataPoint<metrics.Histogram>[] {
  const series = new Map<string, Scraped['values'][number][]>()
  for (const one of values) {
    const { le: _, ...labels } = one.labels
    const key = JSON.stringify(Object.entries(labels).sort())
    series.set(key, [...(series.get(key) ?? []), one])
  }
  return [...series.values()].map((own) => {
    const { le: _, ...attributes } = own[0]!.labels
    const numberOf = (suffix: string) =>
      own.find(({ metricName }) => metricName === name + suffix)?.value ?? 0
    const below = own.filter(({ metricName }) => metricName === `${name}_bucket`)
    const boundaries = below.map(({ labels }) => Number(labels['le'])).filter(Number.isFinite)
    // Prometheus counts everything below a boundary, OpenTelemetry what is between two.
    const counts = below.map(({ value }, index) => value - (below[index - 1]?.value ?? 0))
    const value = { buckets: { boundaries, counts }, sum: numberOf('_sum'), count: numberOf('_count') }
    return { ...times, attributes, value }
  })
}

function now(): HrTime {
  const ms = Date.now()
  return [Math.floor(ms / 1_000), (ms % 1_000) * 1_000_000]
}
