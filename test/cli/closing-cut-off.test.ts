import t from 'tap'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { monthOf } from '../../packages/kernel/time/calendar.ts'
import { period, periodId } from '../../packages/domain/periods/period.ts'
import { Executor } from '../../packages/kernel/execution/execute.ts'
import { readState } from '../../packages/kernel/history.ts'
import { closeMonth } from '../../services/composition/books/close-month.ts'
import type { ClosedMonthView } from '../../packages/domain/periods/resource.ts'
import { ikw, jsonOf, settingsOf, startIkw } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { startService, type TestService } from '../support/service.ts'
import { newUser, signIn } from '../support/identities/sign-in.ts'
import { member } from '../support/identities/users.ts'

interface Closed {
  readonly state: { readonly status: string; readonly from: string; readonly to: string }
}

let service: TestService
let behindMs = Date.now() - Date.parse('2026-02-27T20:00:00.000Z')
const wave = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' }
const payout = { amount: 5_000, currency: 'XOF', destination: wave }

t.before(async () => {
  service = await startService(t, {}, { clock: () => new Date(Date.now() - behindMs) })
})

const runtime = () => service.service.runtime

t.test('a closing that is cut off after the books were closed is finished by the next', async (t) => {
  const { dependencies, postgres } = runtime()
  const { pool } = postgres
  const { merchant_id: merchant } = service.service.credentials
  const days = monthOf('2026-02', 'UTC')
  const { body: paid } = await service.post('/api/v1/payouts', payout)
  const cutOff = async () => Promise.reject(new Error('killed'))
  const logSignatures = { ...dependencies.logSignatures, rootOver: cutOff }
  const inMarch = { ...dependencies, logSignatures, executor: executorAt(days.to) }
  const closing = closeMonth(inMarch, {
    merchant,
    livemode: false,
    month: '2026-02',
    timeZone: 'UTC',
    merchantName: 'Awa',
    currencies: ['XOF'],
    actor: 'test',
    ...days,
  })
  await t.rejects(closing, /killed/)
  await service.post('/api/test/payouts/callback', { payout_id: paid['id'], status: 'paid' })
  const [found] = jsonOf<readonly Closed[]>(
    await ikw(settingsOf(service), 'period', 'close', '2026-02', '--sandbox', '--json'),
  )
  t.match(found!.state, { status: 'closed', from: days.from, to: days.to })
  const { store, reads } = dependencies
  await reads.reached(await store.head(), 10_000)
  const { rows } = await pool.query<{ template: string; effective_at: string }>(
    `select template, effective_at from finance.journal
     where subject_id = (select subject_id from finance.payouts where payout_id = $1) order by log_position`,
    [paid['id']],
  )
  t.match(rows.at(-1), { template: 'payout.settle', effective_at: days.to })
  t.match(rows[0], { template: 'payout.hold', effective_at: /^2026-02-27T/ })
  t.match(await ikw(settingsOf(service), 'ledger', 'verify'), { code: 0 })
})

t.test('a book that begins after a month was closed takes nothing into it', async (t) => {
  const { dependencies, postgres } = runtime()
  const { merchant_id: merchant } = service.service.credentials
  const currencies = async () =>
    ((await service.get('/api/v1/balance')).body['available'] as readonly { currency: string }[]).map(
      ({ currency }) => currency,
    )
  t.strictSame(await currencies(), ['XOF'], 'no book of closed months alone is shown')
  const subject = { type: 'topup', id: dependencies.newId() }
  const late = { template: 'sandbox.topup', subject, amount: 5_000 } as const
  const envelope = { merchant, livemode: false, actor: 'test', correlation: dependencies.newId() }
  const inFebruary = executorAt('2026-02-28T23:58:00.000Z')
  const command = { type: 'PostEntry', data: late } as const
  await inFebruary.send(book, bookId(merchant, false, 'GNF'), command, envelope)
  const { store, reads } = dependencies
  await reads.reached(await store.head(), 10_000)
  const { rows } = await postgres.pool.query<object>(
    `select effective_at, belongs_to from finance.journal where subject_id = $1`,
    [subject.id],
  )
  const { to } = monthOf('2026-02', 'UTC')
  t.strictSame(rows, [{ effective_at: to, belongs_to: '2026-02-28T23:58:00.000Z' }])
  t.strictSame((await currencies()).toSorted(), ['GNF', 'XOF'])
  t.match(await ikw(settingsOf(service), 'ledger', 'verify'), { code: 0 })
})

t.test('months of a merchant are opened and closed by one at a time', async (t) => {
  const { dependencies, postgres } = runtime()
  const { merchant_id: merchant } = service.service.credentials
  const other = await postgres.pool.connect()
  t.teardown(() => other.release(true))
  const lock = `(hashtextextended('months of ${merchant} false', 0))`
  await other.query(`select pg_advisory_lock${lock}`)
  const why = ['--by', 'awa', '--reason', 'An invoice was missing']
  const asked = ['period', 'reopen', '2026-02', '--sandbox', ...why]
  const reopening = startIkw(settingsOf(service), asked)
  const waits = 'Another process closes or opens a month of this merchant; waiting for it\n'
  await eventually(
    async () => reopening.said(),
    (said) => said === waits,
    30_000,
  )
  const { status } = await readState(dependencies.store, period, periodId(merchant, false, '2026-02'))
  t.equal(status, 'closed')
  await other.query(`select pg_advisory_unlock${lock}`)
  t.match(await reopening.ended, { code: 0, stderr: waits })
})

t.test('nothing is counted while read models are behind', async (t) => {
  const { dependencies } = runtime()
  const { merchant_id: merchant } = service.service.credentials
  const reads = Object.create(dependencies.reads, { reached: { value: async () => false } }) as Reads
  const days = monthOf('2026-01', 'UTC')
  const of = { merchant, livemode: false, merchantName: 'Awa', currencies: ['XOF'], actor: 'test' }
  const closing = closeMonth(
    { ...dependencies, reads },
    { ...of, month: '2026-01', timeZone: 'UTC', ...days },
  )
  await t.rejects(closing, /read models are behind the log/)
  const { status } = await readState(dependencies.store, period, periodId(merchant, false, '2026-01'))
  t.equal(status, 'none')
})

t.test('a month that cannot be closed for one merchant is closed for the others', async (t) => {
  const { dependencies } = runtime()
  const nobody = '00000000-0000-7000-8000-000000000000'
  const subject = { type: 'topup', id: dependencies.newId() }
  const data = { template: 'sandbox.topup', subject, amount: 5_000 } as const
  const envelope = { merchant: nobody, livemode: false, actor: 'test', correlation: dependencies.newId() }
  const command = { type: 'PostEntry', data } as const
  await dependencies.executor.send(book, bookId(nobody, false, 'XOF'), command, envelope)
  const said = await ikw(settingsOf(service), 'period', 'close', '2026-01', '--sandbox', '--json')
  t.match(said, { code: 1, stderr: `Not done for 1 merchant:\n${nobody}: There is no such merchant.\n` })
  t.match(jsonOf<readonly Closed[]>(said), [{ state: { status: 'closed' } }])
  const alone = await ikw(
    settingsOf(service),
    'period',
    'close',
    '2026-01',
    '--sandbox',
    '--merchant',
    nobody,
  )
  t.match(alone, { code: 2, stdout: '', stderr: /There is no such merchant/ })
})

t.test('an owner closes a month that is over, and nobody else does', async (t) => {
  const path = `${months}/2026-02`
  let owner = await ownerSignedIn()
  const close = (key = owner) => service.post<ClosedMonthView>(months, { month: '2026-02' }, { key })
  const early = await close()
  t.match(early, { status: 409, body: { detail: '2026-02 ends at 2026-03-01T00:00:00.000Z' } })
  behindMs = Date.now() - Date.parse('2026-03-02T08:00:00.000Z')
  owner = await ownerSignedIn()
  const admin = await member(service, 'admin')
  const body = { merchantId: service.service.credentials.merchant_id }
  const switched = await service.post('/api/v1/auth/switch-merchant', body, { key: admin.token })
  const key = String(switched.body['access_token'])
  t.match(await close(key), { status: 403, body: { code: 'IKW-AUTHZ-001' } })
  t.match(await close(service.sandboxKey), { status: 403, body: { code: 'IKW-AUTHZ-003' } })
  t.equal((await service.get(path)).body['status'], 'reopened', 'as the command line left it')

  const answers = await Promise.all(Array.from({ length: 5 }, () => close()))
  await lawOver(t, answers, ({ status, headers }) => {
    if (status === 409) return t.ok(headers.get('retry-after'), 'busy')
    return t.equal(status, 200)
  })
  const { body: closed } = answers.find(({ status }) => status === 200)!
  t.match(closed, { object: 'closed_month', livemode: false, status: 'closed', time_zone: 'Africa/Dakar' })
  t.ok(closed.books.some(({ currency, entries }) => currency === 'XOF' && entries > 0))
  // The one before may still be letting go of what it had locked.
  const again = await eventually(
    () => close(),
    ({ status }) => status !== 409,
  )
  t.strictSame([again.status, again.body], [200, closed], 'closing it again changes nothing')
  t.strictSame((await service.get(path)).body, closed)
  const { pool } = runtime().postgres
  const { rows } = await pool.query(
    `select metadata ->> 'actor' as actor from events where type = 'PeriodClosed' and stream like '%.2026-02'
     order by position desc limit 1`,
  )
  t.match(rows, [{ actor: /^user:/ }])
  const where = ['--sandbox', '--merchant', body.merchantId, '--directory', temporaryDirectory(t), '--json']
  const exported = await ikw(settingsOf(service), 'export', 'month', '2026-02', ...where)
  const files = jsonOf<{ sha256: string; isAsClosed: boolean }[]>(exported)
  t.ok(files.every(({ isAsClosed }) => isAsClosed))
  t.strictSame(
    files.map(({ sha256 }) => sha256).toSorted(),
    closed.books.flatMap((one) => one.files.map(({ sha256 }) => sha256)).toSorted(),
  )
})

/** As the clock of the service moves, access tokens expire. */
async function ownerSignedIn(): Promise<string> {
  const { owner_email: email, owner_password: password } = service.service.credentials
  return (await signIn(service, { email, password })).token
}

t.test('a month of another merchant is not there, and what is no month neither', async (t) => {
  const { token: key } = await newUser(service)
  t.equal((await service.get(`${months}/2026-02`, { key })).status, 404)
  t.match(await service.post(months, { month: '2026-02' }, { key }), {
    status: 200,
    body: { books: [] },
  })
  for (const text of ['2026-13', '2026-2', 'x', '2026-02-01', '2025-12'])
    t.equal((await service.get(`${months}/${text}`)).status, 404, text)
  for (const month of ['2026-13', '9999-12', '0000-01'])
    t.equal((await service.post(months, { month }, { key })).status, 400, `${month} is none`)
  t.match(await service.post(months, { month: '2999-12' }, { key }), { status: 409 }, 'it is not over')
})

const months = '/api/v1/audit/months'

type Reads = TestService['service']['runtime']['dependencies']['reads']

/** The executor of somebody for whom it is later. */
function executorAt(now: string): Executor {
  const { store, log, newId } = runtime().dependencies
  const refuse = () => new Error('refused')
  const refusals = { notFound: refuse, changedMeanwhile: refuse, otherRevision: refuse, overloaded: refuse }
  const chance = { newId, newSalt: () => 'AAAAAAAAAAAAAAAAAAAAAA' }
  const executing = {
    store,
    snapshots: runtime().snapshots,
    clock: () => new Date(now),
    ...chance,
    log,
    refuse: refusals,
  }
  return new Executor({ ...executing, pause: async () => undefined } as ConstructorParameters<
    typeof Executor
  >[0])
}
