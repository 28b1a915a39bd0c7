import { setTimeout as pause } from 'node:timers/promises'
import { checkAfterwards } from '../support/afterwards.ts'
import { compiling, type Bench, type Times } from '../support/bench.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import { measured } from '../support/load/generator.ts'
import { startWithMerchants, type MerchantService } from '../support/merchant-service.ts'
import type { BenchService } from '../support/service.ts'

export const notaryCost: Row = {
  name: 'notary-cost',
  ours: 'POST /api/v1/payouts with 64 connections, the whole service in one process',
  peer: 'our own, whose log nobody signs and nobody audits',
  unit: 'payouts/s',
  target: { least: 0.97 },
  rounds: 5,
  prepare,
}

const connections = 64

/** Two services side by side, of which one is measured while the other rests. */
async function prepare(bench: Bench): Promise<Contest> {
  const { scale, generator } = bench
  const signed = await startWithMerchants(bench, 'bench_signed')
  const bare = await startWithMerchants(bench, 'bench_bare', { standingBy: ['notary', 'auditor'] })
  let behind = 0
  const run = async ({ service, keys }: MerchantService, times: Times) => {
    const plan = { flow: 'payout', keys } as const
    const result = await generator.run({ port: service.port, connections, plan, ...times })
    // At the end of the load, when it has been behind for longest.
    if (service === signed.service) behind = Math.max(behind, await service.auditAge())
    await service.settled()
    // What is left to audit must not take from the other service's turn.
    if (service === signed.service) await audited(service)
    return result
  }
  let units = 0
  return {
    async warmUp() {
      units += (await run(signed, compiling(scale))).answered
      await run(bare, compiling(scale))
    },
    async ours() {
      const result = await run(signed, scale)
      units += result.answered
      return measured(result)
    },
    peer: async () => measured(await run(bare, scale)),
    check: () => checkAfterwards(signed.database, { event: 'PayoutRequested', units }),
    note: () =>
      `${signed.keys.length} merchants each; notary and auditor of the other service stand by; ` +
      `new events were audited within ${behind.toFixed(1)} s`,
    close: async () => void (await Promise.all([signed.close(), bare.close()])),
  }
}

const lookEveryMs = 100

/** Until all that was signed by now has been compared. */
async function audited(service: BenchService): Promise<void> {
  const begun = performance.now()
  while ((await service.auditAge()) * 1_000 > performance.now() - begun) await pause(lookEveryMs)
}
