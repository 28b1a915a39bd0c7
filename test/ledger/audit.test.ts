import pg from 'pg'
import t from 'tap'
import { openEmbeddedStore } from '../../infra/event-store/embedded/store.ts'
import { connectionOptions, surviveBrokenConnections } from '../../infra/postgres/client/connect.ts'
import { Checkpoints } from '../../infra/postgres/consumers/checkpoints.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import type { LedgerEvents } from '../../packages/domain/ledger/events.ts'
import { readModels } from '../../projections/index.ts'
import { compareReadModels } from '../../services/audit/compare.ts'
import { verifyLog } from '../../services/audit/verify.ts'
import { deciders } from '../../packages/domain/index.ts'
import { makeHistory } from '../support/verifying/history.ts'
import { startService, type TestService } from '../support/service.ts'

const onProgress = () => undefined

let service: TestService

t.before(async () => {
  service = await startService(t)
  await makeHistory(service)
})

const runtime = () => service.service.runtime

t.test('read models that do not fit into memory are compared in several passes', async (t) => {
  const {
    postgres: { pool },
    dependencies: { store },
  } = runtime()
  const options = { pool, store, models: readModels, deciders, onProgress }
  const whole = await compareReadModels(options)
  const parts = await compareReadModels({ ...options, rowsPerPass: 10 })
  t.strictSame(parts, whole)
  t.strictSame(whole.differences, [])
  t.ok(whole.models.reduce((sum, { rows }) => sum + rows, 0) > 30)
})

t.test('many parts read the log once, and no transaction waits for any of them', async (t) => {
  const {
    postgres: { pool, url },
    dependencies: { store },
  } = runtime()
  const own = new pg.Pool({ ...connectionOptions(url), application_name: 'comparing' })
  surviveBrokenConnections(own)
  t.teardown(() => own.end())
  let [read, waiting] = [0, 0]
  const look = async () => {
    const { rowCount } = await pool.query(
      `select from pg_stat_activity where application_name = 'comparing' and state = 'idle in transaction'`,
    )
    waiting += rowCount ?? 0
  }
  const readOn = async function* (after: number) {
    for await (const page of store.readOn(after)) {
      read += page.length
      await look()
      yield page
    }
  }
  const options = { pool: own, store: { readOn }, models: readModels, deciders, onProgress, breathe: look }
  const { differences } = await compareReadModels({ ...options, rowsPerPass: 10 })
  t.strictSame(differences, [])
  const { rows } = await pool.query<{ count: number }>('select count(*)::float8 as count from events')
  t.ok(read <= rows[0]!.count, `${read} of ${rows[0]!.count} events were read`)
  t.equal(waiting, 0)
})

const topUp = `data ->> 'template' = 'sandbox.topup'`
const topUpEntry = `(select data -> 'entryId' from events where ${topUp})`

/** Overwrites fields of the data of some events. */
function overwrite(where: string, fields: Readonly<Record<string, string>>): string {
  const paths = Object.entries(fields)
  const data = paths.reduce(
    (inner, [path, value]) => `jsonb_set(${inner}, '{${path}}', ${value}::jsonb)`,
    'data::jsonb',
  )
  return `update events set data = ${data} where ${where}`
}

function retype(from: string, to: string): string {
  return `update events set type = '${to}' where type = '${from}'`
}

/** What an auditor must find, and the change in the log that makes it so. */
const forgeries: Readonly<Record<string, readonly [rule: string, sql: string]>> = {
  'an amount of one posting': ['L1', overwrite(`type = 'HoldPosted'`, { 'postings,0,amount': `'1'` })],
  'money that was never there': [
    'L2',
    overwrite(topUp, { 'postings,0,amount': `'1'`, 'postings,1,amount': `'1'` }),
  ],
  'held money that moves without its hold': [
    'L3',
    overwrite(topUp, { 'postings,1,account': `'"merchant.reserved"'` }),
  ],
  'a hold that is given back to nobody': ['L4', retype('HoldPosted', 'HoldVoided')],
  'an entry id that is used twice': [
    'L5',
    overwrite(`data ->> 'template' = 'payment.succeeded'`, { entryId: topUpEntry }),
  ],
  'a correction of nothing': ['L6', overwrite(topUp, { template: `'"reversal"'` })],
  'a correction that mirrors nothing': [
    'L6',
    overwrite(`data ->> 'template' = 'reversal'`, { 'postings,1,account': `'"merchant.pending"'` }),
  ],
  'money that passes through and stays': [
    'L7',
    overwrite(topUp, {
      'postings,1,account': `'"suspense.unmatched"'`,
      effectiveAt: `'"2020-01-01T00:00:00.000Z"'`,
    }),
  ],
  'play money in a live book': [
    'L8',
    `update events set stream = replace(stream, '.test.', '.live.') where stream like 'ledger-%'`,
  ],
  'an entry in a month that is closed': [
    'L9',
    `update events set type = 'BookClosed', data = '{"before": "2999-01-01T00:00:00.000Z"}' where ${topUp}`,
  ],
  'an event that is gone': ['log', `delete from events where type = 'PayoutSent'`],
  'a payout that is sent twice': ['payouts', retype('PayoutPaid', 'PayoutSent')],
  'a payout without a hold': ['payouts', retype('HoldPlaced', 'EntryPosted')],
  'a paid payout whose money never left': ['effects', retype('PayoutPaid', 'PayoutFailed')],
  'money from an operator that no event has brought': [
    'effects',
    overwrite(topUp, { template: `'"payment.bonus"'`, 'postings,0,account': `'"provider:card"'` }),
  ],
  'money of the book that no event has moved': [
    'effects',
    overwrite(topUp, { template: `'"escrow.unfreeze"'` }),
  ],
  'a payment of another amount': [
    'effects',
    overwrite(`type = 'PaymentIntentSucceeded'`, { amount: `'2000000'` }),
  ],
}

/** An operator's correction by hand, which no route offers. */
async function correctPayment(): Promise<void> {
  const merchant = service.service.credentials.merchant_id
  const id = bookId(merchant, false, 'XOF')
  const { store, executor } = runtime().dependencies
  const events = await store.readStream(`ledger-${id}`, 0)
  const mistake = events.find(({ data }) => 'template' in data && data.template === 'payment.succeeded')!
  const entry = mistake.data as LedgerEvents['EntryPosted']
  const command = { type: 'ReverseEntry', data: { entry } } as const
  await executor.send(book, id, command, { merchant, livemode: false, actor: 'cli', correlation: 'a test' })
}

t.test('what somebody has forged in the log breaks a rule', async (t) => {
  const { url, pool } = runtime().postgres
  await correctPayment()
  const { position: policiesThrough } = await new Checkpoints(pool).load('policies')
  await pool.query('create table original as table events')
  const verify = async (through: number) => {
    const store = await openEmbeddedStore({ url })
    const verified = await verifyLog({
      store,
      deciders,
      policiesThrough: through,
      now: new Date(),
      onProgress,
    })
    await store.close()
    return verified
  }
  const broken = async () => (await verify(policiesThrough)).violations.map(({ rule }) => rule as string)
  t.strictSame(await broken(), [])
  for (const [what, [rule, sql]] of Object.entries(forgeries)) {
    t.ok((await pool.query(sql)).rowCount, `${what} is forged`)
    t.ok((await broken()).includes(rule), `${what} breaks ${rule}`)
    await pool.query('truncate events; insert into events table original')
  }
  t.strictSame(await broken(), [])

  await pool.query(
    `delete from events where stream like 'ledger-%'
       and position >= (select max(position) from events where type = 'HoldPosted')`,
  )
  t.strictSame(await broken(), ['effects'], 'an entry that its policy must have made')
  t.match(await verify(0), { violations: [], pending: 1 }, 'an entry that its policy may still make')
  await pool.query('truncate events; insert into events table original')
})
