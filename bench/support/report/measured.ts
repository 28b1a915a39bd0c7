/** What one side reached in one round. */
export interface Measured {
  /** In the row's unit. */
  readonly value: number
  readonly p50Ms?: number
  readonly p99Ms?: number
  /** CPU of the load generator in percent of one core. */
  readonly generatorPercent?: number
}
