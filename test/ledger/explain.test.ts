import t from 'tap'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import type { ExplanationView } from '../../packages/domain/balances/explanation.ts'
import { readState } from '../../packages/kernel/history.ts'
import { identity } from '../../packages/contract/identity.ts'
import { jsonOf, openCommandLine, type CommandLine } from '../support/cli.ts'

let cli: CommandLine
let before: string

t.before(async () => {
  cli = await openCommandLine()
  const last = await cli.service.post('/api/v1/payouts', cli.history.payoutOrder)
  before = String(last.body['id'])
  const { store, reads } = cli.service.service.runtime.dependencies
  await reads.reached(await store.head(), 10_000)
})

const id = () => bookId(cli.service.service.credentials.merchant_id, false, 'XOF')
const pool = () => cli.service.service.runtime.postgres.pool

async function explained(query: Readonly<Record<string, string>> = {}): Promise<ExplanationView> {
  const asked = new URLSearchParams({ currency: 'XOF', ...query })
  const { status, body } = await cli.service.get<ExplanationView>(`/api/v1/balance/explain?${asked}`)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body
}

t.test('each part of a balance is the sum of what moved it', async (t) => {
  const { body } = await cli.service.get('/api/v1/balance?currency=XOF')
  for (const account of ['available', 'pending', 'reserved'] as const) {
    const { amount, sums, unexplained } = await explained({ account })
    t.match(body[account], [{ amount, currency: 'XOF' }])
    t.equal(
      sums.reduce((total, sum) => total + sum.amount, 0),
      amount,
    )
    t.equal(unexplained, 0)
  }
  const { sums } = await explained({ account: 'available' })
  t.match(
    sums.find(({ template }) => template === 'sandbox.topup'),
    { amount: 1_000_000 },
  )
  t.match(
    sums.find(({ template }) => template === 'payout.fail'),
    { purpose: 'payout', amount: 5_050 },
  )
})

t.test('open holds are told one by one, with their entries', async (t) => {
  const { holds } = await readState(cli.service.service.runtime.dependencies.store, book, id())
  const found = await explained({ account: 'reserved' })
  t.strictSame(
    found.holds.map((hold) => identity(hold.id, 'po', 're')).toSorted(),
    Object.keys(holds).toSorted(),
  )
  t.equal(found.holds_count, Object.keys(holds).length)
  t.equal(
    found.holds.reduce((total, hold) => total + hold.amount, 0),
    found.amount,
  )
  t.equal(found.holds_unexplained, 0)
  const asked = found.holds.find((hold) => hold.id === before)!
  t.match(asked, { type: 'payout', amount: 5_050, entries: [{ template: 'payout.hold', amount: 5_050 }] })
})

t.test('what was open at a time is told as of it and as known at it, also when it is over now', async (t) => {
  const { rows } = await pool().query<{ at: string }>(
    `select effective_at as at from read.journal where template = 'payout.hold' order by position limit 1`,
  )
  const at = rows[0]!.at
  for (const query of [{ as_of: at }, { known_at: at }, { as_of: at, known_at: at }]) {
    const found = await explained({ account: 'reserved', ...query })
    t.match(found, { ...query, unexplained: 0, holds_unexplained: 0 })
    t.equal(
      found.amount,
      found.holds.reduce((total, hold) => total + hold.amount, 0),
    )
    t.ok(found.holds.some(({ entries }) => entries.length === 1 && entries[0]!.template === 'payout.hold'))
  }
  t.match(await explained({ account: 'reserved', known_at: '2020-01-01T00:00:00Z' }), {
    amount: 0,
    holds: [],
    sums: [],
  })
})

t.test('the command line explains any account and counts it once more from the log', async (t) => {
  for (const account of [
    'merchant.available',
    'clearing.payout',
    'provider:mobile_money.SN.wave',
    'revenue.payout_fees',
  ]) {
    const said = await cli.run('ledger', 'explain', id(), account)
    t.match(said, { code: 0, stdout: /The sums add up/ }, account)
  }
  t.match(await cli.run('ledger', 'explain', id(), 'merchant.bonus'), { code: 2 })
  t.match(await cli.run('ledger', 'explain', 'nobody', 'merchant.available'), { code: 2 })
})

t.test('a sum that somebody has changed is shown as what does not add up', async (t) => {
  const changed = (by: number) =>
    pool().query(`update read.balance_days set available = available + $1 where template = 'sandbox.topup'`, [
      by,
    ])
  await changed(7)
  t.match(await explained(), { unexplained: -7 })
  t.match(await explained({ as_of: '2999-01-01T00:00:00Z' }), { unexplained: -7 })
  await changed(-7)
  t.match(await explained(), { unexplained: 0 })
  const line = `template = 'sandbox.topup' and account = 'merchant.available'`
  await pool().query(`update read.journal set amount = amount + 7 where ${line}`)
  const said = await cli.run('ledger', 'explain', id(), 'merchant.available', '--json')
  t.match(jsonOf(said), { unexplained: -7 })
  t.equal(said.code, 1)
  await pool().query(`update read.journal set amount = amount - 7 where ${line}`)
})
