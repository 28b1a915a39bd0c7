import { derivedId } from '../../packages/contract/identity.ts'
import { account } from '../../packages/domain/ledger/accounts.ts'
import {
  paymentIntent,
  type PaymentIntentCommands,
} from '../../packages/domain/payment-intents/payment-intent.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { checkAfterwards } from '../support/afterwards.ts'
import { compiling, type Bench, type Times } from '../support/bench.ts'
import type { Contest, Row } from '../support/report/contest.ts'
import { measured } from '../support/load/generator.ts'
import { startWithMerchants } from '../support/merchant-service.ts'
import { openBenchRuntime, type BenchMerchant } from '../support/merchants.ts'

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
  const runtime = await openBenchRuntime(database)
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

type Dependencies = Awaited<ReturnType<typeof openBenchRuntime>>['dependencies']

/** A payment of an order for each thousand sellers, each of whom gets this much. */
const share = 100
const terms = { currency: 'XOF', transactionCountry: 'SN', payerCountry: null, railCountry: null }
const card = { method: { type: 'card', token: 'tok_ok' }, preferredFlow: null, returnUrl: null } as const

/** The service books them, so every entry follows from an event. */
async function fill({ executor }: Dependencies, { id }: BenchMerchant, count: number): Promise<void> {
  const envelope = { merchant: id, livemode: false, actor: 'bench', correlation: id }
  for (let from = 0; from < count; from += perEntry) {
    const sellers = Math.min(perEntry, count - from)
    const credits = Array.from({ length: sellers }, (_, index) => {
      return { account: account('seller.pending', derivedId(id, `seller ${from + index}`)), amount: share }
    })
    const plan = { template: 'order.paid', credits, feeMode: 'payer', payerFee: 0 } as const
    const purpose = { type: 'order', id } as const
    const order = { ...terms, amount: sellers * share, description: null, customer: null, metadata: {} }
    const intent = derivedId(id, `order ${from}`)
    const send = (command: Message<PaymentIntentCommands>) =>
      executor.send(paymentIntent, intent, command, envelope)
    await send({ type: 'CreateIntent', data: { ...order, purpose, plan } })
    const { state } = await send({ type: 'ConfirmIntent', data: { ...card, statusPages: '' } })
    if (state.status === 'none') throw new Error('the order was not created')
    const { operationId } = state.attempts.at(-1)!
    await send({ type: 'CompletePayment', data: { operationId } })
  }
}
