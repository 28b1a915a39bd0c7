import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parkMessage } from '../../infra/postgres/consumers/parked.ts'
import { jsonOf, openCommandLine, type Row } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory } from '../support/postgres.ts'

const { service, history, run, rows } = await openCommandLine()
const pool = () => service.service.runtime.postgres.pool

t.test('all read models say what the log says, while the service works', async (t) => {
  const busy = Promise.all(
    Array.from({ length: 20 }, () => service.post('/api/v1/payouts', history.payoutOrder)),
  )
  const replayed = await run('ledger', 'replay', '--json')
  const orders = await busy
  t.strictSame(
    orders.map(({ status }) => status),
    orders.map(() => 201),
  )
  const { books, models, differences } = jsonOf<{
    books: readonly Row[]
    models: readonly Row[]
    differences: readonly Row[]
  }>(replayed)
  t.strictSame(differences, [])
  t.equal(replayed.code, 0)
  t.match(books, [
    { environment: 'sandbox', currency: 'XOF', accounts: [{ account: /./, class: /./, balance: Number }] },
  ])
  t.match(
    models.find(({ name }) => name === 'payouts'),
    { position: Number, rows: Number, differences: 0 },
  )
  t.match(await run('ledger', 'replay'), { code: 0, stdout: /All \d+ read models say what the log says/ })
})

t.test('the log keeps all rules', async (t) => {
  const verified = await run('ledger', 'verify', '--json')
  t.equal(verified.code, 0)
  t.match(jsonOf(verified), { position: Number, events: Number, entries: Number, books: 1, violations: [] })
  t.match(await run('ledger', 'verify'), { code: 0, stdout: /No rule is broken/ })
})

t.test('an event that somebody changed breaks a rule, and the exit code says so', async (t) => {
  await pool().query('create table original as table events')
  await pool().query(
    `update events set data = jsonb_set(data::jsonb, '{postings,0,amount}', '1')
     where data ->> 'template' = 'payment.succeeded'`,
  )
  const found = await run('ledger', 'verify')
  t.equal(found.code, 1)
  t.match(found.stdout, /L1: entry \S+ of \S+ has debits of 1 and credits of 20000/)
  const { violations } = jsonOf<{ violations: readonly Row[] }>(await run('ledger', 'verify', '--json'))
  t.match(
    violations.find(({ rule }) => rule === 'effects'),
    { problem: /moves 1 at provider:/ },
  )
  await pool().query('truncate events; insert into events table original; drop table original')
  t.match(await run('ledger', 'verify'), { code: 0 })
})

t.test(
  'a row that somebody changed, removed or made up is found and named, and a rebuild puts it right',
  async (t) => {
    await service.service.runtime.dependencies.reads.reached(
      await service.service.runtime.dependencies.store.head(),
      10_000,
    )
    await pool().query(`update read.payouts set status = 'failed' where status = 'paid'`)
    await pool().query(
      'delete from read.journal where line = 2 and position = (select min(position) from read.journal)',
    )
    await pool().query(`update read.balances set available = available + 1`)
    await pool().query(`insert into read.timers (id, kind, subject) values ('made:up', 'made', 'up')`)
    const found = await run('ledger', 'replay')
    t.equal(found.code, 1)
    t.match(found.stdout, /payouts .*: status is "failed", but by the log "paid"/)
    t.match(found.stdout, /journal \[\d+,2\]: is missing in the table/)
    t.match(found.stdout, /balances .*: available is \d+, but by the log \d+/)
    t.match(found.stdout, /timers \["made:up"\]: stands in the table, but nothing in the log makes it/)
    const named = jsonOf<{ differences: readonly Row[] }>(await run('ledger', 'replay', '--json')).differences
    t.strictSame([...new Set(named.map(({ model }) => model))].sort(), [
      'balances',
      'journal',
      'payouts',
      'timers',
    ])

    t.match(await run('projections', 'rebuild', 'payouts'), { code: 0, stdout: /payouts/ })
    const rebuilt = jsonOf<{ models: readonly Row[] }>(await run('projections', 'status', '--json')).models
    t.match(
      rebuilt.find(({ name }) => name === 'payouts'),
      { generation: 2, state: 'live', behind: Number, parked: 0 },
    )
    t.match(await run('projections', 'rebuild', '--all', '--json'), { code: 0 })
    t.match(await run('ledger', 'replay'), { code: 0 })
  },
)

t.test('what is parked is listed, is a difference, and is tried again when asked', async (t) => {
  const stream = `payout-${history.paidPayoutId}`
  const consumer = (
    await pool().query<{ name: string }>(`select name from checkpoints where name like 'read.payouts_v%'`)
  ).rows[0]!.name
  await pool().query(
    `insert into parked (consumer, stream, revision, position, event_id, type, error)
     select $1, stream, revision, position, id, type, 'a test'
     from events where stream = $2 and revision = 1`,
    [consumer, stream],
  )
  t.match(await rows('parked', 'list'), [
    { consumer, stream, revision: 1, type: 'PayoutSent', error: 'a test' },
  ])
  t.match(await run('ledger', 'replay'), {
    code: 1,
    stdout: new RegExp(`payouts: ${stream} is parked since revision 1`),
  })
  t.strictSame(jsonOf(await run('parked', 'retry', stream, '--json')), { asked: 1 })
  await eventually(
    async () => (await pool().query('select from parked')).rowCount,
    (count) => count === 0,
  )
  t.match(await run('parked', 'list'), { code: 0, stdout: 'Nothing is parked.\n' })
  t.match(await run('ledger', 'replay'), { code: 0 })
})

t.test('a message that is no event is not tried again, but dismissed when it has been seen', async (t) => {
  const place = { topic: 'ikw.public-events', partition: 3, offset: '17' }
  await parkMessage(pool(), { ...place, group: 'webhooks', reason: 'the message is not JSON' })
  const message = 'ikw.public-events/3/17'
  t.match(await rows('parked', 'list'), [{ consumer: 'bus webhooks', stream: message, type: 'message' }])
  t.match(await run('parked', 'retry', message), {
    code: 2,
    stderr: /is a message of the bus that is no event/,
  })
  t.strictSame(jsonOf(await run('parked', 'retry', '--json')), { asked: 0 })
  t.strictSame(jsonOf(await run('parked', 'dismiss', message, '--json')), { dismissed: message })
  t.strictSame(await rows('parked', 'list'), [])
  t.match(await run('parked', 'dismiss', message), { code: 2, stderr: /Nothing of .* is parked/ })
})

t.test('the journal of a period is exported, balanced, as CSV and as JSON', async (t) => {
  const period = ['export', 'journal', '--from', '2020-01-01', '--to', '2100-01-01']
  const postings = jsonOf<readonly Row[]>(await run(...period, '--format', 'json'))
  const sum = (column: string) => postings.reduce((total, row) => total + Number(row[column]), 0)
  t.ok(postings.length > 20)
  t.equal(sum('debit'), sum('credit'))

  const file = join(temporaryDirectory(t), 'journal.csv')
  const written = await run(...period, '--output', file)
  t.match(written, { code: 0, stdout: '', stderr: /postings, complete up to position \d+, in / })
  t.equal(statSync(file).mode & 0o777, 0o600)
  const [head, ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n')
  t.match(head, /^entry_id,log_position,merchant,environment,currency,.*,account,account_class,debit,credit,/)
  t.equal(lines.length, postings.length)

  const none = ['export', 'journal', '--from', '2000-01-01', '--to', '2000-01-02']
  t.strictSame(jsonOf(await run(...none, '--json')), [])
  t.equal((await run(...none)).stdout, `${head}\n`)
})
