import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { compiling, type Bench, type Times } from '../support/bench.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import { measured } from '../support/load/generator.ts'
import { startWithMerchants } from '../support/merchant-service.ts'
import { registerUsers } from '../support/users.ts'

export const signIn: Row = {
  name: 'sign-in',
  ours: 'POST /api/v1/auth/login with the right password: a session, and what follows in read models; 16 connections',
  peer: 'bare argon2id of the same cost, on all processors',
  unit: 'sign-ins/s',
  target: { least: 0.8 },
  prepare,
}

const users = 50
/** Fewer than one address may have waiting, so that none is refused. */
const connections = 16
/** A hundred sign-ins a second are few: V8 sees later what is hot than in rows with thousands. */
const timesAsLong = 4

async function prepare(bench: Bench): Promise<Contest> {
  const { generator, scale } = bench
  const { service, close } = await startWithMerchants(bench, 'bench_sign_in')
  const plan = { flow: 'sign-in', accounts: await registerUsers(service.port, users) } as const
  const signedIn = (times: Times) => generator.run({ port: service.port, connections, plan, ...times })
  return {
    async warmUp() {
      const { warmMs, measuredMs } = compiling(scale)
      await signedIn({ warmMs: warmMs * timesAsLong, measuredMs })
      await service.settled()
    },
    async ours() {
      const result = measured(await signedIn(scale))
      await service.settled()
      return result
    },
    peer: async () => ({ value: await bareHashes(scale.measuredMs) }),
    note: () => `${users} users; ${availableParallelism()} processors`,
    close,
  }
}

/** Passwords looked at in a second, by as many threads as there are processors. */
async function bareHashes(forMs: number): Promise<number> {
  const known = await hash('right', { memoryCost: 19_456, timeCost: 2, parallelism: 1 })
  const started = performance.now()
  let count = 0
  const lane = async () => {
    for (; performance.now() - started < forMs; count++) await verify(known, 'wrong')
  }
  await Promise.all(Array.from({ length: availableParallelism() }, lane))
  return (count / (performance.now() - started)) * 1_000
}
