import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { financeViewTable } from '../../infra/postgres/finance/views.ts'
import { financeViews } from '../../infra/postgres/finance/finance.ts'
import {
  publications,
  publishMissing,
  requestNewGeneration,
} from '../../infra/postgres/read-models/publication.ts'
import { identity } from '../../packages/contract/identity.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { balances } from '../../packages/domain/ledger/state.ts'
import { readState } from '../../packages/kernel/history.ts'
import { readModels } from '../../projections/index.ts'
import { journal } from '../../projections/journal.ts'
import { testDatabase } from '../support/postgres.ts'
import { eventually } from '../support/eventually.ts'
import { makeHistory, type History } from '../support/verifying/history.ts'
import { lawOver } from '../support/law.ts'
import { root } from '../support/root.ts'
import { startService, type TestService } from '../support/service.ts'

type Row = Readonly<Record<string, unknown>>

let service: TestService
let history: History

t.before(async () => {
  service = await startService(t)
  history = await makeHistory(service)
})

const runtime = () => service.service.runtime

async function query(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
  return (await runtime().postgres.pool.query<Row>(text, [...values])).rows
}

async function upToDate(): Promise<void> {
  const { store, reads } = runtime().dependencies
  await reads.reached(await store.head(), 10_000)
}

t.test('the last closing balances are what the book itself says, and what the merchant sees', async (t) => {
  await upToDate()
  const id = bookId(service.service.credentials.merchant_id, false, 'XOF')
  const state = await readState(runtime().dependencies.store, book, id)
  const closing = await query(
    `select distinct on (account) account, closing_balance as balance from finance.balances_daily
     where book = $1 order by account, day desc`,
    [id],
  )
  const standing = closing.filter(({ balance }) => balance !== 0)
  t.strictSame(Object.fromEntries(standing.map(({ account, balance }) => [account, balance])), state.balances)
  const { available, pending, reserved } = balances(state)
  const { body } = await service.get('/api/v1/balance?currency=XOF')
  t.match(body, {
    available: [{ amount: available }],
    pending: [{ amount: pending }],
    reserved: [{ amount: reserved }],
  })
})

t.test('debits and credits are equal in every entry, and the journal has one row for each', async (t) => {
  const unequal = 'select entry_id from finance.postings group by entry_id having sum(debit) <> sum(credit)'
  t.strictSame(await query(unequal), [])
  const [counted] = await query(
    `select (select count(*) from finance.journal) as entries,
       (select sum(postings) from finance.journal) as lines,
       (select count(*) from finance.postings) as postings,
       (select count(*) from events where stream like 'ledger-%') as events`,
  )
  t.equal(counted?.['entries'], counted?.['events'])
  t.equal(counted?.['lines'], counted?.['postings'])
})

t.test('payouts, payments and fees agree with what the merchant was answered', async (t) => {
  const [payout] = await query('select * from finance.payouts where payout_id = $1', [history.paidPayout])
  t.match(payout, {
    status: 'paid',
    environment: 'sandbox',
    amount: 5_000,
    fee: 50,
    currency: 'XOF',
    rail: 'mobile_money.SN.wave',
    paid_at: String,
  })
  t.match(
    await query('select status, failure_code from finance.payouts where payout_id = $1', [
      history.failedPayout,
    ]),
    [{ status: 'failed', failure_code: String }],
  )
  const { body } = await service.get(`/api/v1/merchant/payments/${history.payment}`)
  const [payment] = await query('select * from finance.payments where payment_intent_id = $1', [
    history.payment,
  ])
  t.match(payment, {
    payment_id: body['id'],
    status: 'partially_refunded',
    amount: body['amount'],
    fee: body['fee'],
    net: body['net'],
    refunded: 1_000,
  })
  const fee = 'select account, amount from finance.fees where subject_id = $1'
  t.strictSame(await query(fee, [identity(history.paidPayout, 'po')]), [
    { account: 'revenue.payout_fees', amount: 50 },
  ])
  t.strictSame(await query(fee, [payment?.['subject_id']]), [
    { account: 'revenue.payment_fees', amount: body['fee'] },
  ])
})

t.test('no view shows who was paid or who paid', async (t) => {
  await lawOver(t, financeViewTable, async ({ name }) => {
    t.notMatch(
      JSON.stringify(await query(`select * from finance.${name}`)),
      /\+?221770000000|msisdn|whsec_|ik_test_/,
    )
  })
})

t.test('the role of finance reads the views, and neither writes nor reads anything else', async (t) => {
  const connection = await runtime().postgres.pool.connect()
  try {
    await connection.query('set role ikw_finance')
    await lawOver(t, financeViewTable, async ({ name }) => {
      const { rowCount } = await connection.query(`select * from finance.${name}`)
      // No operator has sent a statement here.
      t.equal(Number(rowCount) > 0, name !== 'reconciliation', `finance.${name} has rows`)
    })
    for (const forbidden of [
      'select * from events',
      'select * from read.journal',
      'select * from read.webhook_endpoints',
      'select * from deliveries',
      'delete from finance.postings',
      'update finance.payouts set amount = 0',
      'drop view finance.fees',
      'create table finance.mine ()',
      'create table public.mine ()',
    ]) {
      await t.rejects(connection.query(forbidden), /permission denied|must be owner/, forbidden)
    }
  } finally {
    connection.release(true)
  }
})

t.test('making the views again changes nothing, and a rebuilt read model has them again', async (t) => {
  const counts = 'select count(*) as postings, count(distinct subject_id) as subjects from finance.postings'
  const before = await query(counts)
  await runtime().postgres.pool.query(financeViews)
  t.strictSame(await query(counts), before)
  const granted = `select has_table_privilege('ikw_finance', 'finance.journal', 'select') as granted`
  t.strictSame(await query(granted), [{ granted: true }])
  await requestNewGeneration(runtime().postgres.pool, journal)
  const shown = () => publications(runtime().postgres.pool)
  await eventually(shown, (published) => published.get('journal')?.generation === 2)
  t.strictSame(await query(counts), before)
  t.strictSame(await query(granted), [{ granted: true }])
})

t.test(
  'a newer program starts on read models of an older one, and shows more once they are rebuilt',
  async (t) => {
    const { pool } = await testDatabase(t)
    await publishMissing(pool, readModels, financeViews)
    const shown = async () => {
      const { rows } = await pool.query<{ name: string }>(
        `select viewname as name from pg_views where schemaname = 'finance'
       union all select proname from pg_proc where pronamespace = 'finance'::regnamespace order by 1`,
      )
      return rows.map(({ name }) => name)
    }
    const all = await shown()
    const { rows } = await pool.query<{ definition: string }>(
      `select pg_get_viewdef('read.journal'::regclass) as definition`,
    )
    const definition = rows[0]!.definition
    const older = definition.replace(/\s+belongs_to,/, '')
    t.not(older, definition)
    await pool.query('drop view read.journal cascade; drop function finance.balances_at')
    await pool.query(`create view read.journal as ${older}`)
    await pool.query(financeViews)
    const fewer = await shown()
    t.ok(fewer.includes('payouts') && !fewer.includes('postings'), 'the others are there meanwhile')
    await pool.query(`drop view read.journal cascade`)
    await pool.query(`create view read.journal as ${definition}`)
    await pool.query(financeViews)
    t.strictSame(await shown(), all)
  },
)

t.test('every column says what it means, in the database and on the page for finance', async (t) => {
  const page = readFileSync(join(root, 'docs/finance.md'), 'utf8')
  const lineOf = (name: string) =>
    page.split('\n').find((line) => line.startsWith(`| \`finance.${name}\``)) ?? ''
  await lawOver(t, financeViewTable, async ({ name, columns }) => {
    const documented = await query(
      `select attname as name, col_description(attrelid, attnum) as meaning from pg_attribute
       where attrelid = $1::regclass and attnum > 0 order by attnum`,
      [`finance.${name}`],
    )
    t.strictSame(
      documented,
      columns.map(([column, , meaning]) => ({ name: column, meaning })),
    )
    await lawOver(t, columns, ([column]) =>
      t.ok(lineOf(name).includes(`\`${column}\``), `finance.${name}.${column} stands on the page`),
    )
  })
})
