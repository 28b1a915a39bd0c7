/** What is watched over time. */
export interface Series {
  /** `heap of api`. */
  readonly name: string
  readonly unit: 'MB' | 'events' | 'items'
  readonly points: readonly Point[]
}

export interface Point {
  readonly seconds: number
  readonly value: number
}

export interface Verdict {
  readonly name: string
  readonly unit: Series['unit']
  /** The middle value of the second half. */
  readonly level: number
  /** By how much it rises along the second half, by its trend, as far as that is above the first half. */
  readonly growth: number
  /** What it would have to rise by to be called growth. */
  readonly allowed: number
  readonly grows: boolean
}

/** So much is no growth: what a garbage collector, a page cache or a batch more or less makes of it. */
const allowances: Readonly<Record<Series['unit'], number>> = { MB: 16, events: 2_000, items: 500 }
/** Nor is a part of what there is. */
const allowedPart = 0.1
/** A trend says something when it leaves the scatter around it so many times behind. */
const scattersMin = 3
const windows = 12
/** Fewer points make no trend. */
const pointsMin = 8

/**
 * Tells growth from start-up, garbage and noise, in the second half of a run: the trend of the least values
 * of twelve windows (the median slope of all pairs, by Theil and Sen) against their scatter around it. What
 * only comes back to where it was in the first half has not grown.
 */
export function judge({ name, unit, points }: Series): Verdict {
  const end = points.at(-1)?.seconds ?? 0
  const begin = points[0]?.seconds ?? 0
  const isLate = ({ seconds }: Point) => seconds >= (begin + end) / 2
  const half = points.filter(isLate)
  const level = median(half.map(({ value }) => value))
  const allowance = Math.max(allowances[unit], allowedPart * level)
  const least = leastOfWindows(half)
  if (least.length < pointsMin) return { name, unit, level, growth: 0, allowed: allowance, grows: false }
  const slope = median(slopes(least))
  const base = median(least.map(({ seconds, value }) => value - slope * seconds))
  const scatter = median(least.map(({ seconds, value }) => Math.abs(value - base - slope * seconds)))
  const [first, last] = [least[0]!.seconds, least.at(-1)!.seconds]
  const before = median(leastOfWindows(points.filter((point) => !isLate(point))).map(({ value }) => value))
  const growth = Math.min(slope * (last - first), base + slope * last - before)
  const allowed = Math.max(allowance, scattersMin * scatter)
  return { name, unit, level, growth, allowed, grows: growth > allowed }
}

function leastOfWindows(points: readonly Point[]): readonly Point[] {
  const size = Math.max(1, Math.ceil(points.length / windows))
  const least: Point[] = []
  for (let start = 0; start < points.length; start += size) {
    const window = points.slice(start, start + size)
    least.push(window.reduce((one, other) => (other.value < one.value ? other : one)))
  }
  return least
}

function slopes(points: readonly Point[]): readonly number[] {
  return points.flatMap((one, index) =>
    points.slice(index + 1).map((other) => (other.value - one.value) / (other.seconds - one.seconds)),
  )
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  if (sorted.length % 2 === 1) return sorted[middle]!
  return sorted.length === 0 ? 0 : (sorted[middle - 1]! + sorted[middle]!) / 2
}
