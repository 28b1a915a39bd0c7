import type { Bench, Scale } from '../support/bench.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import { startWithMerchants } from '../support/merchant-service.ts'

export const memory: Row = {
  name: 'memory',
  ours: 'resident memory of the service after 100,000 payouts (1,000,000 with LONG=1)',
  peer: 'the same process after 10,000 payouts',
  unit: 'MB',
  target: { most: 1.2 },
  rounds: 1,
  prepare,
}

const connections = 64
const stepsMaxMs = 60 * 60_000
/** The simulated operators pay after 2 s. */
const longerThanPayingMs = 3_000

async function prepare(bench: Bench): Promise<Contest> {
  const { scale, generator } = bench
  const steps = stepsOf(scale)
  const { keys, service, close } = await startWithMerchants(bench, 'bench_memory')
  const plan = { flow: 'payout', isPaid: true, keys } as const
  const megabytes: number[] = []
  return {
    async ours() {
      for (const [index, step] of steps.entries()) {
        const unitsMax = step - (steps[index - 1] ?? 0)
        await generator.run({
          port: service.port,
          connections,
          plan,
          warmMs: 0,
          measuredMs: stepsMaxMs,
          unitsMax,
        })
        await service.settled(longerThanPayingMs)
        megabytes.push(service.residentMegabytes())
      }
      return { value: megabytes.at(-1)! }
    },
    peer: async () => ({ value: megabytes[0]! }),
    note: () => {
      const measured = steps.map((step, index) => `${Math.round(megabytes[index]!)} MB after ${step}`)
      return `${measured.join(', ')}; each when all payouts are paid and all that follows is done`
    },
    close,
  }
}

/** A million takes longer than all other rows together, so it runs only on request. */
function stepsOf({ stores, long }: Scale): readonly number[] {
  if (long) return [10_000, 100_000, 200_000, 400_000, 700_000, 1_000_000]
  return stores === 'whole' ? [10_000, 40_000, 70_000, 100_000] : [10_000, 20_000]
}
