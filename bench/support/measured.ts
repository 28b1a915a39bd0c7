/** What one side reached in one round. */
export interface Measured {
  /** In the row's unit. */
  readonly value: number
  readonly p50Ms?: number
  readonly p99Ms?: number
  /** How many per cent of one core the load generator used. */
  readonly generatorPercent?: number
}
