/** Loaded before a service, it puts the service's clock wrong by `CLOCK_SKEW_MS`. */
const skewMs = Number(process.env['CLOCK_SKEW_MS'])
const RealDate = Date

class SkewedDate extends RealDate {
  constructor(...given: readonly unknown[]) {
    super(...((given.length > 0 ? given : [SkewedDate.now()]) as [number]))
  }

  static override now(): number {
    return RealDate.now() + skewMs
  }
}

globalThis.Date = SkewedDate as DateConstructor
