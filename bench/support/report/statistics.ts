/** The median; for an even number of values, the lower of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN
}

/** The percentile (nearest rank); NaN for no values. */
function percentile(sorted: Float64Array, percent: number): number {
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? Number.NaN
}

export interface Spread {
  readonly p50Ms: number
  readonly p99Ms: number
}

export function spreadOf(durationsMs: readonly number[] | Float64Array): Spread {
  const sorted = Float64Array.from(durationsMs).sort()
  return { p50Ms: percentile(sorted, 50), p99Ms: percentile(sorted, 99) }
}
