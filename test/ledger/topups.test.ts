import t from 'tap'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { readState } from '../../packages/kernel/history.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService

t.before(async () => {
  service = await startService(t)
})

async function available(): Promise<number> {
  const { runtime, credentials } = service.service
  const { store } = runtime.dependencies
  const { balances } = await readState(store, book, bookId(credentials.merchant_id, false, 'XAF'))
  return balances['merchant.available'] ?? 0
}

/** More than a book remembers. */
async function topUpOften(): Promise<void> {
  const { runtime, credentials } = service.service
  const { executor, newId } = runtime.dependencies
  const merchant = credentials.merchant_id
  const envelope = { merchant, livemode: false, actor: 'key:test', correlation: 'test' }
  const commands = Array.from({ length: 1_100 }, () => {
    const subject = { type: 'topup', id: newId() }
    const data = { template: 'sandbox.topup', subject, amount: 1, notAmong: Number.MAX_SAFE_INTEGER } as const
    return { command: { type: 'PostEntry', data }, envelope }
  })
  await executor.sendAll(book, bookId(merchant, false, 'XAF'), commands)
}

/** What is kept of answers is thrown away after thirty days. */
async function forgetAnswers(): Promise<void> {
  await service.service.runtime.postgres.pool.query('delete from answers')
}

t.test('a top-up that comes again after thousands of others and a month is not made again', async (t) => {
  const topUp = (key: string) => {
    const headers = { 'idempotency-key': key }
    return service.post('/api/test/balance/topup', { amount: 5_000, currency: 'XAF' }, { headers })
  }
  t.equal((await topUp('once')).status, 200)
  await topUpOften()
  await forgetAnswers()
  t.equal((await topUp('once')).status, 200)
  t.equal(await available(), 5_000 + 1_100)
  t.equal((await topUp('another')).status, 200)
  t.equal(await available(), 10_000 + 1_100, 'one that is new is made')
  await forgetAnswers()
  t.strictSame(
    (await Promise.all(Array.from({ length: 10 }, () => topUp('ten-at-once')))).map(
      ({ status }) => status >= 500,
    ),
    Array.from({ length: 10 }, () => false),
  )
  t.equal((await topUp('ten-at-once')).status, 200)
  t.equal(await available(), 15_000 + 1_100)
})
