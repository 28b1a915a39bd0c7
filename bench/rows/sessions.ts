import { compiling, type Bench } from '../support/bench.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import type { FlowPlan } from '../support/load/flows.ts'
import type { Measured } from '../support/report/measured.ts'
import { startWithMerchants } from '../support/merchant-service.ts'
import { registerUsers } from '../support/users.ts'

export const sessions: Row = {
  name: 'sessions',
  ours: 'GET /api/v1/balance by access tokens of users; 16 connections',
  peer: 'the same by API keys of as many merchants',
  unit: 'µs of CPU a request',
  target: { most: 1.1 },
  prepare,
}

const users = 50
const connections = 16

async function prepare(bench: Bench): Promise<Contest> {
  const { generator, scale } = bench
  const { service, keys, close } = await startWithMerchants(bench, 'bench_sessions')
  const tokens = (await registerUsers(service.port, users)).map(({ token }) => token)
  await service.settled()
  const side = (given: readonly string[]) => {
    const plan: FlowPlan = { flow: 'get', path: '/api/v1/balance', keys: given.slice(0, users) }
    return (times = scale) => generator.run({ port: service.port, connections, plan, ...times })
  }
  const [bySession, byKey] = [side(tokens), side(keys)]
  const round = async (run: typeof byKey): Promise<Measured> => {
    const before = service.cpuMs()
    const { answered, p50Ms, p99Ms, cpuPercent } = await run()
    return {
      value: ((service.cpuMs() - before) * 1_000) / answered,
      p50Ms,
      p99Ms,
      generatorPercent: cpuPercent,
    }
  }
  return {
    async warmUp() {
      for (const run of [byKey, bySession]) await run({ ...scale, ...compiling(scale) })
    },
    ours: () => round(bySession),
    peer: () => round(byKey),
    note: () => `${users} users, each with a merchant, and ${users} other merchants with a key`,
    close,
  }
}
