import t from 'tap'
import { identity } from '../../packages/contract/identity.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { lateRefundIdOf } from '../../packages/domain/payment-intents/state.ts'
import { readState } from '../../packages/kernel/history.ts'
import type { RailState } from '../../packages/kernel/rail-ports.ts'
import { cases } from '../../projections/cases.ts'
import { paymentIntentProcess } from '../../services/processes/payment-intents.ts'
import { toolsOf } from '../../services/processes/main.ts'
import { ikw, settingsOf } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { orange } from '../support/payments.ts'
import { failed, returned, ScriptedRail, succeeded } from '../support/scripted-rail.ts'
import { startService, type TestService } from '../support/service.ts'

const provider = new ScriptedRail()
let service: TestService

t.before(async () => {
  service = await startService(t, {}, { rails: [{ environments: ['sandbox'], rail: provider }] })
})

const amount = 5_000
const patienceMs = 20_000

interface Late {
  readonly id: string
  readonly operation: string
  /** The first references under which the money goes back. */
  readonly first: string
  readonly second: string
}

async function confirm(): Promise<Pick<Late, 'id' | 'operation'>> {
  const order = { amount, currency: 'XOF', transaction_country: 'SN' }
  const { body } = await service.post('/api/v1/payment-intents', order)
  const confirmed = await service.post(`/api/v1/payment-intents/${String(body['id'])}/confirm`, orange())
  // A provider that reports what nobody knows yet calls again; this one does not.
  await caughtUp()
  const operation = identity(String(confirmed.body['operation_id']), 'op')!
  return { id: identity(String(body['id']), 'pi')!, operation }
}

async function caughtUp(): Promise<void> {
  const { reads, store } = service.service.runtime.dependencies
  await reads.reached(await store.head(), 10_000)
}

/** Money that arrives after its intent has failed, and whose first refund the provider answers like this. */
async function payLate(answer: RailState): Promise<Late> {
  provider.answer = ({ kind }) => (kind === 'refund' ? answer : { state: 'pending' })
  const { id, operation } = await confirm()
  await provider.say(operation, failed)
  await provider.say(operation, succeeded)
  const [first, second] = [lateRefundIdOf(operation), lateRefundIdOf(operation, 1)]
  await provider.submitted(({ reference }) => reference === first)
  if (answer.state === 'failed') await until(id, 'PaymentIntentLateRefundFailed')
  await caughtUp()
  return { id, operation, first, second }
}

async function typesOf(id: string): Promise<readonly string[]> {
  const events = await service.service.runtime.dependencies.store.readStream(`payment_intent-${id}`, 0)
  return events.map(({ type }) => type)
}

async function until(id: string, type: string): Promise<void> {
  await eventually(
    () => typesOf(id),
    (types) => types.includes(type),
    patienceMs,
  )
}

async function openedFor(subject: string): Promise<readonly string[]> {
  await caughtUp()
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

async function askAgain({ id, operation }: Late): Promise<Date | undefined> {
  const { dependencies } = service.service.runtime
  const owner = { merchant: service.service.credentials.merchant_id, livemode: false }
  const subject = `${id}.${operation}`
  const dueAt = dependencies.clock().toISOString()
  const timer = { ...owner, id: `late_refund:${subject}`, kind: 'late_refund', subject, dueAt, attempts: 0 }
  return paymentIntentProcess.timers!['late_refund']!(timer, toolsOf(dependencies))
}

function timesSubmitted(wanted: string): number {
  return provider.requests.filter(({ reference }) => reference === wanted).length
}

t.test('a refund that has failed and is done after all is found before another is sent', async (t) => {
  const before = await suspense()
  const late = await payLate(failed)
  provider.set(late.first, succeeded)
  await askAgain(late)
  t.equal(timesSubmitted(late.second), 0)
  await until(late.id, 'PaymentIntentLateSuccessRefunded')
  await untilSuspense(before)
  t.notOk(await askAgain(late), 'it is over')
})

t.test('no other refund is sent while the provider may still do the first', async (t) => {
  const late = await payLate(failed)
  provider.set(late.first, { state: 'pending' })
  t.ok(await askAgain(late))
  t.equal(timesSubmitted(late.second), 0)
})

t.test('late money that went back under two references is a case', async (t) => {
  const before = await suspense()
  const late = await payLate(failed)
  provider.answer = () => ({ state: 'pending' })
  await askAgain(late)
  t.equal(timesSubmitted(late.second), 1)
  await provider.say(late.first, succeeded)
  await until(late.id, 'PaymentIntentLateSuccessRefunded')
  t.strictSame(await openedFor(late.id), [])
  await provider.say(late.second, succeeded)
  t.strictSame(await untilOpened(late.id), ['payment_contradicted'])
  await provider.report(late.second, succeeded)
  t.strictSame(await openedFor(late.id), ['payment_contradicted'], 'once')
  t.equal(await untilSuspense(before), before, 'what nobody owes is not booked')
})

t.test('a refund whose success the provider does not repeat when asked has failed', async (t) => {
  const late = await payLate(failed)
  await provider.report(late.first, succeeded)
  t.notOk((await typesOf(late.id)).includes('PaymentIntentLateSuccessRefunded'))
  t.strictSame(await openedFor(late.id), [])
})

t.test('late money that comes back from the payer is a case, and goes back when people say so', async (t) => {
  const before = await suspense()
  const late = await payLate({ state: 'pending' })
  await provider.say(late.first, succeeded)
  await untilSuspense(before)
  await provider.say(late.first, returned)
  t.strictSame(await untilOpened(late.id), ['payment_contradicted'])
  t.equal(await untilSuspense(before + amount), before + amount)
  await returnLate(t, late)
  await provider.submitted(({ reference }) => reference === late.second)
  await provider.say(late.second, succeeded)
  t.equal(await untilSuspense(before), before)
  await caughtUp()
  t.match(await ikw(settingsOf(service), 'ledger', 'verify'), { code: 0 })
})

t.test('late money that the provider has refused for good goes back when people say so', async (t) => {
  const late = await payLate(failed)
  for (let tries = 2; tries <= 4; tries++) {
    await askAgain(late)
    const failures = async () =>
      (await typesOf(late.id)).filter((type) => type === 'PaymentIntentLateRefundFailed').length
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
  await until(late.id, 'PaymentIntentLateSuccessRefunded')
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
  const { id, operation } = await confirm()
  await provider.say(operation, succeeded)
  await until(id, 'PaymentIntentSucceeded')
  await provider.say(operation, returned)
  await until(id, 'PaymentIntentPaymentReturned')
  await provider.say(operation, succeeded)
  await until(id, 'PaymentIntentLateSuccessRecorded')
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
