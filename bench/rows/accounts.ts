import { derivedId } from '../../packages/contract/identity.ts'
import { account, bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { checkAfterwards } from '../support/afterwards.ts'
import { compiling, type Bench, type Times } from '../support/bench.ts'
import type { Contest, Row } from '../support/contest.ts'
import { measured } from '../support/generator.ts'
import { startWithMerchants } from '../support/merchant-service.ts'
import { openBenchHouse, type BenchMerchant } from '../support/merchants.ts'

export const accounts: Row = {
  name: 'accounts',
  ours: 'POST /api/v1/payouts from a book with 100,000 accounts; 64 connections',
  peer: 'our own, from a book with ten',
  unit: 'payouts/s',
  target: { least: 0.9 },
  prepare,
}

const connections = 64
const manyAccounts = 100_000
const perEntry = 1_000

async function prepare(bench: Bench): Promise<Contest> {
  const { scale, generator } = bench
  const { database, keys, merchants, service, close } = await startWithMerchants(bench, 'bench_accounts')
  const runtime = await openBenchHouse(database)
  const [many, few] = merchants
  await fill(runtime.dependencies, many!, manyAccounts)
  await fill(runtime.dependencies, few!, 10)
  await runtime.close()
  await service.settled()
  let units = 0
  const run = async (some: readonly string[], times: Times = scale) => {
    const plan = { flow: 'payout', keys: some } as const
    const result = await generator.run({ port: service.port, connections, plan, ...times })
    units += result.answered
    await service.settled()
    return measured(result)
  }
  return {
    warmUp: async () => void (await run(keys.slice(0, 2), compiling(scale))),
    ours: () => run(keys.slice(0, 1)),
    peer: () => run(keys.slice(1, 2)),
    check: () => checkAfterwards(database, { event: 'PayoutRequested', units }),
    note: () => `${manyAccounts} accounts of sellers against ten`,
    close,
  }
}

type Dependencies = Awaited<ReturnType<typeof openBenchHouse>>['dependencies']

/** Gives this many sellers one unit each. */
async function fill({ executor }: Dependencies, { id }: BenchMerchant, count: number): Promise<void> {
  const envelope = { merchant: id, livemode: false, actor: 'bench', correlation: id }
  for (let from = 0; from < count; from += perEntry) {
    const amount = Math.min(perEntry, count - from)
    const sellerOf = (number: number) => account('seller.pending', derivedId(id, `seller ${number}`))
    const credits = Array.from({ length: amount }, (_, index) => ({
      account: sellerOf(from + index),
      amount: 1,
    }))
    const subject = { type: 'payment', id: derivedId(id, `order ${from}`) }
    const data = { template: 'order.paid', subject, rail: 'card', amount, fee: 0, credits } as const
    await executor.send(book, bookId(id, false, 'XOF'), { type: 'PostEntry', data }, envelope)
  }
}
