import { compiling, type Bench, type Times } from '../support/bench.ts'
import type { Contest, Row } from '../support/contest.ts'
import { LoadGenerator } from '../support/generator.ts'
import type { LoadResult } from '../support/load.ts'
import type { Measured } from '../support/measured.ts'
import { startWithMerchants } from '../support/merchant-service.ts'
import { number } from '../support/result.ts'
import { median } from '../support/statistics.ts'
import { registerUsers } from '../support/users.ts'

export const signInFlood: Row = {
  name: 'sign-in-flood',
  ours: 'median latency of GET /api/v1/balance by API key, 100 a second, while 48 connections sign in as fast as they can',
  peer: 'the same while nobody signs in',
  unit: 'ms',
  target: { most: 2 },
  prepare,
}

const users = 50
/** Fewer than may wait, so that none is refused. */
const flooding = { connections: 48 }
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
    flood.run({ port, ...flooding, plan: { flow: 'sign-in', accounts }, ...times })
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
      `${number(median(all.signIns))} sign-ins a second meanwhile; the 99th percentile was ` +
      `${p99Of(all.flooded)} ms, and ${p99Of(all.calm)} ms without them`,
    async close() {
      await flood.close()
      await close()
    },
  }
}

function latency(result: LoadResult, kept: LoadResult[]): Measured {
  kept.push(result)
  const { p50Ms, p99Ms, cpuPercent } = result
  return { value: p50Ms, p50Ms, p99Ms, generatorPercent: cpuPercent }
}

function p99Of(results: readonly LoadResult[]): string {
  return number(median(results.map(({ p99Ms }) => p99Ms)))
}
