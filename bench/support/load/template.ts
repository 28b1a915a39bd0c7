import { v7 } from 'uuid'
import type { Dependencies } from '../../../packages/contract/routes.ts'
import { bookId } from '../../../packages/domain/ledger/accounts.ts'
import { book } from '../../../packages/domain/ledger/book.ts'
import { payout, type Payout } from '../../../packages/domain/payouts/payout.ts'
import { holdFor } from '../../../packages/domain/payouts/terms.ts'
import { streamName, type Decider, type Message, type Payloads } from '../../../packages/kernel/decider.ts'
import { readState } from '../../../packages/kernel/history.ts'
import type { StoredEvent } from '../../../packages/kernel/ports.ts'
import type { BenchMerchant } from '../merchants.ts'

/** One real payout from request to end, to be multiplied by SQL. */
export interface PayoutTemplate {
  /** Placeholders for the payout and its merchant, wherever they occur. */
  readonly id: string
  readonly merchant: string
  readonly events: readonly StoredEvent[]
  readonly state: Payout
}

export type PayoutEnd = 'pending' | 'in_transit' | 'paid' | 'failed' | 'canceled'

/** The payout used by all benchmarks. */
export const money = {
  amount: 5_000,
  fee: 50,
  currency: 'XOF',
  source: 'merchant.available',
  rail: 'mobile_money.SN.wave',
} as const
export const destination = {
  type: 'mobile_money',
  country: 'SN',
  operator: 'wave',
  msisdn: '+221775550123',
} as const

/** Sends all commands of a payout that ends this way. */
export async function payoutTemplate(
  dependencies: Dependencies,
  { id: merchant }: BenchMerchant,
  end: PayoutEnd,
): Promise<PayoutTemplate> {
  const { store } = dependencies
  const id = v7()
  const after = await store.head()
  const correlation = `req_${id.replaceAll('-', '')}`
  const envelope = { merchant, livemode: false, actor: 'key:bench', correlation }
  const send = <S, C extends Payloads, E extends Payloads>(
    decider: Decider<S, C, E>,
    to: string,
    command: Message<C>,
  ) => dependencies.executor.send(decider, to, command, envelope)
  const inBook = bookId(merchant, false, money.currency)
  const { rail } = money
  const metadata = { order: 'order-5550123', note: 'supplier invoice' }
  await send(book, inBook, { type: 'PlaceHold', data: holdFor(id, money) })
  await send(payout, id, { type: 'RequestPayout', data: { money, destination, metadata } })
  if (end === 'in_transit' || end === 'paid' || end === 'failed') {
    await send(payout, id, { type: 'SendPayout', data: {} })
    await send(book, inBook, { type: 'AdvanceHold', data: { holdId: id } })
  }
  if (end === 'paid') {
    await send(payout, id, { type: 'SettlePayout', data: {} })
    await send(book, inBook, { type: 'PostHold', data: { holdId: id, rail } })
  } else if (end === 'failed' || end === 'canceled') {
    const failure = { code: 'operator_declined', message: 'The operator declined the payout.' } as const
    if (end === 'failed') await send(payout, id, { type: 'FailPayout', data: { failure } })
    else await send(payout, id, { type: 'CancelPayout', data: { reason: 'compliance' } })
    await send(book, inBook, { type: 'VoidHold', data: { holdId: id } })
  }
  const streams = [streamName(payout.category, id), streamName(book.category, inBook)]
  const events = (await store.readAll(after, 100)).filter(({ stream }) => streams.includes(stream))
  return { id, merchant, events, state: await readState(store, payout, id) }
}
