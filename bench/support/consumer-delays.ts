import { median } from './report/statistics.ts'

/** How many batches consumers have done, by the greatest age in seconds that their first event had. */
export type Delays = ReadonlyMap<number, number>

/** From the metrics of a process. */
export function delaysIn(metrics: string): Delays {
  const lines = metrics.matchAll(/^consumer_delay_seconds_bucket\{le="([^"]+)"[^}]*\} (\d+)$/gm)
  return new Map(
    [...lines].map(([, most, count]) => [Number(most!.replace('+Inf', 'Infinity')), Number(count)]),
  )
}

/** Of batches that were done in between: as bounds in seconds, that of the latest one and of 99 in 100. */
export function latest(before: Delays, now: Delays): { readonly most: number; readonly p99: number } {
  const since = (most: number) => (now.get(most) ?? 0) - (before.get(most) ?? 0)
  const all = since(Infinity)
  const bound = (part: number) => Math.min(...[...now.keys()].filter((most) => since(most) >= part * all))
  return { most: bound(1), p99: bound(0.99) }
}

interface Watched {
  settled(): Promise<number>
  delays(): Promise<Delays>
}

/** How late the consumers of a service are under load, from the first look on. */
export class Lateness {
  readonly #service: Watched
  readonly #settledMs: number[] = []
  #before: Delays = new Map()
  #now: Delays = new Map()

  constructor(service: Watched) {
    this.#service = service
  }

  /** When the warm-up is over. */
  async begin(): Promise<void> {
    await this.#service.settled()
    this.#before = await this.#service.delays()
  }

  /** After a round. */
  async look(): Promise<void> {
    this.#settledMs.push(await this.#service.settled())
    this.#now = await this.#service.delays()
  }

  toString(): string {
    const { most, p99 } = latest(this.#before, this.#now)
    const settledMs = Math.round(median(this.#settledMs))
    return (
      `what follows from a payout is done ${settledMs} ms after the last answer, ` +
      `and no consumer was more than ${most} s behind (${p99} s in 99 of 100 batches)`
    )
  }
}
