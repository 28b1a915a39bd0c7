import t, { type Test } from 'tap'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { lateRefundIdOf } from '../../packages/domain/payment-intents/state.ts'
import { readState } from '../../packages/kernel/history.ts'
import { cases } from '../../projections/cases.ts'
import { paymentIntentProcess } from '../../services/processes/payment-intents.ts'
import { toolsOf } from '../../services/processes/runner/main.ts'
import { ikw, settingsOf } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { amount, LatePayments, patienceMs, type Late } from '../support/ledger/late-payments.ts'
import { failed, returned, ScriptedRail, succeeded } from '../support/payments/scripted-rail.ts'
import { startService, type TestService } from '../support/service.ts'

const provider = new ScriptedRail()
let service: TestService
let latePayments: LatePayments

t.before(async () => {
  service = await startService(t, {}, { rails: [{ environments: ['sandbox'], rail: provider }] })
  latePayments = new LatePayments(service, provider)
})

async function openedFor(subject: string): Promise<readonly string[]> {
  await latePayments.caughtUp()
  const { reads } = service.service.runtime.dependencies
  const where = [{ column: 'subject', operator: '=', value: subject }] as const
  const page = await reads.page<{ kind: string }>({ from: cases.name, where, order: 'created', limit: 10 })
  return page.rows.map(({ kind }) => kind)
}

const untilOpened = (subject: string) =>
  eventually(
    () => openedFor(subject),
    (found) => found.length > 0,
    patienceMs,
  )

async function suspense(): Promise<number> {
  const { runtime, credentials } = service.service
  const stream = bookId(credentials.merchant_id, false, 'XOF')
  const { balances } = await readState(runtime.dependencies.store, book, stream)
  return balances['suspense.unmatched'] ?? 0
}

const untilSuspense = (wanted: number) => eventually(suspense, (now) => now === wanted, patienceMs)

function askAgain({ id, operation }: Late): Promise<Date | undefined> {
  return runTimer('late_refund', `${id}.${operation}`)
}

async function runTimer(kind: string, subject: string): Promise<Date | undefined> {
  const { dependencies } = service.service.runtime
  const owner = { merchant: service.service.credentials.merchant_id, livemode: false }
  const dueAt = dependencies.clock().toISOString()
  const timer = { ...owner, id: `${kind}:${subject}`, kind, subject, dueAt, attempts: 0 }
  return paymentIntentProcess.timers![kind]!(timer, toolsOf(dependencies))
}

/** Runs the timers of an intent's second refunds as often as they have to be run. */
async function askSecond({ id }: Late): Promise<number> {
  await latePayments.caughtUp()
  const { rows } = await service.service.runtime.postgres.pool.query<{ kind: string; subject: string }>(
    "select kind, subject from read.timers where kind like '%late_refund' and subject like $1",
    [`${id}.%`],
  )
  for (const { kind, subject } of rows) await runTimer(kind, subject)
  return rows.length
}

function timesSubmitted(wanted: string): number {
  return provider.requests.filter(({ reference }) => reference === wanted).length
}

t.test('a refund that has failed and is done after all is found before another is sent', async (t) => {
  const before = await suspense()
  const late = await latePayments.pay(failed)
  provider.set(late.first, succeeded)
  await askAgain(late)
  t.equal(timesSubmitted(late.second), 0)
  await latePayments.until(late.id, 'PaymentIntentLateSuccessRefunded')
  await untilSuspense(before)
  t.notOk(await askAgain(late), 'it is over')
})

t.test('no other refund is sent while the provider may still do the first', async (t) => {
  const late = await latePayments.pay(failed)
  provider.set(late.first, { state: 'pending' })
  t.ok(await askAgain(late))
  t.equal(timesSubmitted(late.second), 0)
})

/** The first reference has done it, while the second one is under way. */
async function backWhileSecondIsUnderWay(t: Test): Promise<Late> {
  const late = await latePayments.pay(failed)
  provider.answer = () => ({ state: 'pending' })
  await askAgain(late)
  t.equal(timesSubmitted(late.second), 1)
  await provider.say(late.first, succeeded)
  await latePayments.until(late.id, 'PaymentIntentLateSuccessRefunded')
  return late
}

t.test('late money that went back under two references is a case', async (t) => {
  const before = await suspense()
  const late = await backWhileSecondIsUnderWay(t)
  t.strictSame(await openedFor(late.id), [])
  await provider.say(late.second, succeeded)
  t.strictSame(await untilOpened(late.id), ['payment_contradicted'])
  await provider.report(late.second, succeeded)
  t.strictSame(await openedFor(late.id), ['payment_contradicted'], 'once')
  t.equal(await untilSuspense(before), before, 'what nobody owes is not booked')
})

t.test('a refund that went on beside another one is asked for until it is over', async (t) => {
  for (const [word, opens] of [
    [succeeded, ['payment_contradicted']],
    [failed, []],
    [{ state: 'never_received' }, []],
  ] as const) {
    const before = await suspense()
    const late = await backWhileSecondIsUnderWay(t)
    t.equal(await askSecond(late), 1, 'it is still under way')
    t.strictSame(await openedFor(late.id), [])
    // Nobody calls.
    provider.set(late.second, word)
    t.equal(await askSecond(late), 1)
    t.equal(await askSecond(late), 0, 'it is over')
    const opened = opens.length > 0 ? await untilOpened(late.id) : await openedFor(late.id)
    t.strictSame(opened, opens, word.state)
    t.equal(await untilSuspense(before), before, 'it is booked once')
  }
})

t.test('late money that comes back goes back by what is under way already', async (t) => {
  const before = await suspense()
  const late = await latePayments.pay(failed)
  provider.answer = () => ({ state: 'pending' })
  await askAgain(late)
  await provider.say(late.first, succeeded)
  await untilSuspense(before)
  await provider.say(late.first, returned)
  await untilSuspense(before + amount)
  provider.set(late.second, succeeded)
  t.equal(await askSecond(late), 1)
  t.equal(await untilSuspense(before), before)
  t.equal(await askSecond(late), 0)
})

t.test('a refund whose success the provider does not repeat when asked has failed', async (t) => {
  const late = await latePayments.pay(failed)
  await provider.report(late.first, succeeded)
  t.notOk((await latePayments.typesOf(late.id)).includes('PaymentIntentLateSuccessRefunded'))
  t.strictSame(await openedFor(late.id), [])
})

t.test('late money that comes back from the payer is a case, and goes back when people say so', async (t) => {
  const before = await suspense()
  const late = await latePayments.pay({ state: 'pending' })
  await provider.say(late.first, succeeded)
  await untilSuspense(before)
  await provider.say(late.first, returned)
  t.strictSame(await untilOpened(late.id), ['payment_contradicted'])
  t.equal(await untilSuspense(before + amount), before + amount)
  await returnLate(t, late)
  await provider.submitted(({ reference }) => reference === late.second)
  await provider.say(late.second, succeeded)
  t.equal(await untilSuspense(before), before)
  await latePayments.caughtUp()
  t.match(await ikw(settingsOf(service), 'ledger', 'verify'), { code: 0 })
})

t.test('late money that the provider has refused for good goes back when people say so', async (t) => {
  const late = await latePayments.pay(failed)
  for (let tries = 2; tries <= 4; tries++) {
    await askAgain(late)
    const failures = async () =>
      (await latePayments.typesOf(late.id)).filter((type) => type === 'PaymentIntentLateRefundFailed').length
    await eventually(failures, (count) => count === tries, patienceMs)
  }
  t.strictSame(await untilOpened(late.id), ['late_payment_not_refunded'])
  await returnLate(t, late)
  const fifth = lateRefundIdOf(late.operation, 4)
  await provider.submitted(({ reference }) => reference === fifth)
  const kinds = await eventually(
    () => openedFor(late.id),
    (found) => found.length > 1,
    patienceMs,
  )
  t.strictSame(kinds, ['late_payment_not_refunded', 'late_payment_not_refunded'], 'a new question')
  provider.answer = () => succeeded
  await returnLate(t, late)
  await latePayments.until(late.id, 'PaymentIntentLateSuccessRefunded')
  const again = await ikw(settingsOf(service), 'payments', 'return-late', late.id, ...signature)
  t.match(again, { code: 2, stderr: /has gone back/ })
})

t.test('a payment that was not paid late has nothing that goes back', async (t) => {
  const order = { amount, currency: 'XOF', transaction_country: 'SN' }
  const { body } = await service.post('/api/v1/payment-intents', order)
  const answer = await ikw(settingsOf(service), 'payments', 'return-late', String(body['id']), ...signature)
  t.match(answer, { code: 2, stderr: /was not paid late/ })
})

t.test('money that was taken back, then paid late and returned once more is a case', async (t) => {
  const { id, operation } = await latePayments.confirm()
  await provider.say(operation, succeeded)
  await latePayments.until(id, 'PaymentIntentSucceeded')
  await provider.say(operation, returned)
  await latePayments.until(id, 'PaymentIntentPaymentReturned')
  await provider.say(operation, succeeded)
  await latePayments.until(id, 'PaymentIntentLateSuccessRecorded')
  t.strictSame(await openedFor(id), [])
  await provider.say(operation, returned)
  t.strictSame(await untilOpened(id), ['payment_contradicted'])
})

const signature = ['--by', 'awa', '--reason', 'The provider takes it now']

async function returnLate(t: Tap, { id }: Late): Promise<void> {
  const answer = await ikw(
    settingsOf(service),
    'payments',
    'return-late',
    `pi_${id.replaceAll('-', '')}`,
    ...signature,
  )
  t.match(answer, { code: 0, stdout: /done/ })
}

type Tap = Parameters<typeof startService>[0]
