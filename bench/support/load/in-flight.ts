import type { Measured } from '../report/measured.ts'
import type { Times } from '../bench.ts'
import { spreadOf } from '../report/statistics.ts'

export interface InFlight extends Times {
  readonly workers: number
  /** One piece of work of one worker. */
  readonly work: (worker: number) => Promise<unknown>
}

/** Keeps this many pieces of work in flight in this process, and counts them per second after the warm-up. */
export async function keepInFlight({ workers, warmMs, measuredMs, work }: InFlight): Promise<Measured> {
  const begin = performance.now() + warmMs
  const end = begin + measuredMs
  const durations: number[] = []
  const run = async (worker: number) => {
    for (;;) {
      const started = performance.now()
      if (started >= end) return
      await work(worker)
      const ended = performance.now()
      if (ended > begin && ended <= end) durations.push(ended - started)
    }
  }
  await Promise.all(Array.from({ length: workers }, (_, worker) => run(worker)))
  return { value: (durations.length / measuredMs) * 1_000, ...spreadOf(durations) }
}
