import { compiling, type Bench, type Times } from '../support/bench.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import { LoadGenerator } from '../support/load/generator.ts'
import type { LoadResult } from '../support/load/load.ts'
import type { Measured } from '../support/report/measured.ts'
import { startWithMerchants } from '../support/merchant-service.ts'
import { number } from '../support/report/result.ts'
import { median } from '../support/report/statistics.ts'
import { registerUsers } from '../support/users.ts'

export const signInFlood: Row = {
  name: 'sign-in-flood',
  ours: '99th percentile of GET /api/v1/balance by API key, 100 a second, while 300 sign-ins a second come on 96 connections, more than may wait',
  peer: 'the same while nobody signs in',
  unit: 'ms',
  target: { most: 2 },
  prepare,
}

const users = 50
/** More than may wait, at some times the rate at which passwords are looked at: most are refused. */
const flooding = { connections: 96, perSecond: 300 }
const reading = { connections: 16, perSecond: 100 }

async function prepare(bench: Bench): Promise<Contest> {
  const { generator, scale } = bench
  const { service, keys, close } = await startWithMerchants(bench, 'bench_flood')
  const flood = new LoadGenerator()
  const { port } = service
  const accounts = await registerUsers(port, users)
  const all = { signIns: [] as number[], flooded: [] as LoadResult[], calm: [] as LoadResult[] }

  const read = (times: Times) =>
    generator.run({ port, ...reading, plan: { flow: 'get', path: '/api/v1/balance', keys }, ...times })
  const signIn = (times: Times) =>
    flood.run({ port, ...flooding, plan: { flow: 'sign-in', accounts, mayBeRefused: true }, ...times })
  const flooded = async (times: Times): Promise<LoadResult> => {
    const [result, { perSecond }] = await Promise.all([read(times), signIn(times)])
    all.signIns.push(perSecond)
    await service.settled()
    return result
  }
  return {
    async warmUp() {
      await read(compiling(scale))
      await flooded(compiling(scale))
    },
    ours: async () => latency(await flooded(scale), all.flooded),
    peer: async () => latency(await read(scale), all.calm),
    note: () =>
      `${number(median(all.signIns))} sign-ins a second were answered meanwhile, let in or refused; the median ` +
      `was ${medianOf(all.flooded)} ms, and ${medianOf(all.calm)} ms without them`,
    async close() {
      await flood.close()
      await close()
    },
  }
}

function latency(result: LoadResult, kept: LoadResult[]): Measured {
  kept.push(result)
  const { p50Ms, p99Ms, cpuPercent } = result
  return { value: p99Ms, p50Ms, p99Ms, generatorPercent: cpuPercent }
}

function medianOf(results: readonly LoadResult[]): string {
  return number(median(results.map(({ p50Ms }) => p50Ms)))
}
