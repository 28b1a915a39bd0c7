import t from 'tap'
import { identity } from '../../packages/contract/identity.ts'
import { created, lateRefundIdOf } from '../../packages/domain/payment-intents/state.ts'
import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { readState, recordedEvent } from '../../packages/kernel/history.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import type { RailState } from '../../packages/kernel/ports/rails.ts'
import { cases } from '../../projections/cases.ts'
import { paymentIntentProcess } from '../../services/processes/payment-intents.ts'
import { toolsOf } from '../../services/processes/runner/main.ts'
import { eventually } from '../support/eventually.ts'
import { failed, returned, ScriptedRail, succeeded } from '../support/payments/scripted-rail.ts'
import { startService, type TestService } from '../support/service.ts'

const provider = new ScriptedRail()
let service: TestService

t.before(async () => {
  service = await startService(t, {}, { rails: [{ environments: ['sandbox'], rail: provider }] })
})

const amount = 5_000
/** 2 %. */
const fee = 100
const patienceMs = 20_000

const orange = { country: 'SN', operator: 'orange_money', msisdn: '+221770000000' }

interface Confirmed {
  readonly id: string
  readonly operation: string
}

/** An intent that waits for what the provider says. */
async function confirm(): Promise<Confirmed> {
  const order = { amount, currency: 'XOF', transaction_country: 'SN' }
  const { body } = await service.post('/api/v1/payment-intents', order)
  const payment_method = { type: 'mobile_money', mobile_money: orange }
  const path = `/api/v1/payment-intents/${String(body['id'])}`
  const answer = await service.post(`${path}/confirm`, { payment_method })
  // A provider that reports what nobody knows yet calls again; this one does not.
  const { reads, store } = service.service.runtime.dependencies
  await reads.reached(await store.head(), 10_000)
  return {
    id: identity(String(body['id']), 'pi')!,
    operation: identity(String(answer.body['operation_id']), 'op')!,
  }
}

async function shown(id: string): Promise<Record<string, unknown>> {
  return (await service.get(`/api/v1/payment-intents/${id}`)).body
}

async function available(): Promise<number> {
  const { body } = await service.get<{ available: { amount: number }[] }>('/api/v1/balance')
  return body.available[0]!.amount
}

async function openedFor(subject: string): Promise<readonly string[]> {
  const { reads, store } = service.service.runtime.dependencies
  await reads.reached(await store.head(), 10_000)
  const where = [{ column: 'subject', operator: '=', value: subject }] as const
  const page = await reads.page<{ kind: string }>({ from: cases.name, where, order: 'created', limit: 10 })
  return page.rows.map(({ kind }) => kind)
}

const reachingBalance = (amount: number) => eventually(available, (now) => now === amount, patienceMs)

/** A payment whose money is in the book. */
async function pay(): Promise<Confirmed> {
  const before = await available()
  const paid = await confirm()
  await provider.say(paid.operation, succeeded)
  await reachingBalance(before + amount - fee)
  return paid
}

/** A payment that the provider has taken back, and that is out of the book again. */
async function takenBack(): Promise<Confirmed> {
  const before = await available()
  const paid = await pay()
  await provider.say(paid.operation, returned)
  await eventually(
    () => shown(paid.id),
    ({ status }) => status === 'failed',
    patienceMs,
  )
  await reachingBalance(before)
  return paid
}

for (const [name, denial] of Object.entries({ failed, returned })) {
  t.test(`a payment that succeeded and then has ${name} is taken back`, async (t) => {
    const before = await available()
    const { id, operation } = await pay()
    await provider.say(operation, denial)
    await provider.report(operation, denial)
    await eventually(
      () => shown(id),
      ({ status }) => status === 'failed',
      patienceMs,
    )
    await reachingBalance(before)
    await provider.report(operation, denial)
    await reachingBalance(before)
    t.strictSame(await openedFor(id), [])
  })
}

t.test('an earlier success that comes again after the payment was taken back pays nobody', async (t) => {
  const { id, operation } = await takenBack()
  await provider.report(operation, succeeded)
  const intent = async () =>
    created(await readState(service.service.runtime.dependencies.store, paymentIntent, id))
  t.strictSame((await intent()).late, [])
  await provider.say(operation, succeeded)
  t.strictSame((await intent()).late, [operation], 'unless the provider says so when it is asked')
  await provider.submitted(({ reference }) => reference === lateRefundIdOf(operation))
})

t.test('taking back waits until the payment is in the book, and for a day at most', async (t) => {
  const { id, operation } = await confirm()
  const { dependencies } = service.service.runtime
  const takeBack = paymentIntentProcess.reactions!['PaymentIntentResultContradicted']!
  const [stored] = await dependencies.store.readStream(`payment_intent-${id}`, 0, 1)
  const { metadata } = stored!
  const data = { operationId: operation, amount, currency: 'XOF', rail: 'mobile_money.SN.orange_money' }
  const told = { recorded: 'succeeded', word: 'returned', remedy: 'take_back' }
  const event = { ...stored!, id, metadata, data: { ...data, ...told } } as unknown as RecordedEvent<never>
  const tryIt = (laterMs: number) => {
    const clock = () => new Date(Date.parse(metadata.at) + laterMs)
    return takeBack({ event, mayHaveRun: true, tools: toolsOf({ ...dependencies, clock }) })
  }
  await t.rejects(tryIt(hours(23)), { name: 'NotYetError' })
  t.strictSame(await openedFor(id), [])
  await tryIt(hours(25))
  t.strictSame(await openedFor(id), ['payment_contradicted'])
})

t.test('taking back goes on after a crash in the middle, when the entry is reversed already', async (t) => {
  const before = await available()
  const { id } = await takenBack()
  const { dependencies } = service.service.runtime
  const { reads, store } = dependencies
  await reads.reached(await store.head(), 10_000)
  const stored = await store.readStream(`payment_intent-${id}`, 0)
  const told = stored.find(({ type }) => type === 'PaymentIntentResultContradicted')!
  const event = recordedEvent(paymentIntent, told) as RecordedEvent<never>
  const again = paymentIntentProcess.reactions!['PaymentIntentResultContradicted']!
  await t.resolves(again({ event, mayHaveRun: true, tools: toolsOf(dependencies) }))
  t.equal(await available(), before)
})

t.test('a denial that the provider does not repeat when it is asked is late', async (t) => {
  const { id, operation } = await pay()
  await provider.report(operation, failed)
  t.equal((await shown(id))['status'], 'succeeded')
  t.strictSame(await openedFor(id), [])
})

interface Refunded {
  readonly payment: Confirmed
  readonly refund: string
}

async function refund(): Promise<Refunded> {
  const payment = await pay()
  const { body } = await service.post(`/api/v1/merchant/payments/${payment.id}/refund`, {})
  const id = identity(String(body['id']), 're')!
  await provider.submitted(({ reference }) => reference === id)
  return { payment, refund: id }
}

async function refundStatus({ payment, refund: id }: Refunded): Promise<unknown> {
  const path = `/api/v1/merchant/payments/${payment.id}/refunds`
  const { body } = await service.get<{ data: { id: string; status: string }[] }>(path)
  return body.data.find((each) => identity(each.id, 're') === id)?.status
}

interface Told {
  readonly words: readonly RailState[]
  readonly ends: string
  /** What the merchant has less than after the payment. */
  readonly costs: number
  readonly refundable: boolean
}

const stories: Readonly<Record<string, Told>> = {
  'succeeded, then returned': { words: [succeeded, returned], ends: 'failed', costs: 0, refundable: true },
  'succeeded, then failed': { words: [succeeded, failed], ends: 'failed', costs: 0, refundable: true },
  'failed, then succeeded': {
    words: [failed, succeeded],
    ends: 'succeeded',
    costs: amount,
    refundable: false,
  },
}

for (const [name, { words, ends, costs, refundable }] of Object.entries(stories)) {
  t.test(`a refund ${name}`, async (t) => {
    const before = (await available()) + amount - fee
    const made = await refund()
    for (const word of words) {
      await provider.say(made.refund, word)
      await provider.report(made.refund, word)
    }
    await eventually(
      () => refundStatus(made),
      (status) => status === ends,
      patienceMs,
    )
    await reachingBalance(before - costs)
    const payment = () => service.get(`/api/v1/merchant/payments/${made.payment.id}`)
    await eventually(payment, ({ body }) => body['can_refund'] === refundable, patienceMs)
    const again = await service.post(`/api/v1/merchant/payments/${made.payment.id}/refund`, {})
    t.equal(again.status, refundable ? 201 : 409, 'the payer is not refunded twice')
    t.strictSame(await openedFor(made.refund), [])
    if (again.status === 201) await provider.say(identity(String(again.body['id']), 're')!, succeeded)
  })
}

t.test('late money that the provider keeps is asked for anew, and at last is a case', async (t) => {
  const { id, operation } = await confirm()
  await provider.say(operation, failed)
  provider.answer = ({ kind }) => (kind === 'refund' ? failed : { state: 'pending' })
  t.teardown(() => void (provider.answer = () => ({ state: 'pending' })))
  await provider.say(operation, succeeded)
  const { dependencies } = service.service.runtime
  const failures = async () => {
    const events = await dependencies.store.readStream(`payment_intent-${id}`, 0)
    return events.filter(({ type }) => type === 'PaymentIntentLateRefundFailed').length
  }
  for (let tries = 1; tries <= 4; tries++) {
    await provider.submitted(({ reference }) => reference === lateRefundIdOf(operation, tries - 1))
    await eventually(failures, (count) => count === tries, patienceMs)
    if (tries < 4) await runTimer('late_refund', `${id}.${operation}`)
  }
  const kinds = await eventually(
    () => openedFor(id),
    (found) => found.length > 0,
    patienceMs,
  )
  t.strictSame(kinds, ['late_payment_not_refunded'])
})

t.test('an intent that was canceled is asked about until the provider knows, or people do', async (t) => {
  provider.answer = () => ({ state: 'redirect', url: 'https://provider.example' })
  t.teardown(() => void (provider.answer = () => ({ state: 'pending' })))
  const cancel = async () => {
    const made = await confirm()
    t.equal((await service.post(`/api/v1/payment-intents/${made.id}/cancel`)).status, 200)
    return made
  }
  const [paid, unpaid, unknown] = [await cancel(), await cancel(), await cancel()]
  provider.set(paid.operation, succeeded)
  provider.set(unpaid.operation, { state: 'never_received' })
  provider.set(unknown.operation, { state: 'pending' })
  for (const { id } of [paid, unpaid, unknown]) await runTimer('canceled_status', id)
  await provider.submitted(({ reference }) => reference === lateRefundIdOf(paid.operation))
  t.ok(await runTimer('canceled_status', unknown.id, hours(2)), 'it is asked again')
  t.notOk(await runTimer('canceled_status', unpaid.id, hours(2)), 'no more')
  t.notOk(await runTimer('canceled_status', unknown.id, hours(73)), 'no more')
  const kinds = await eventually(
    () => openedFor(unknown.id),
    (found) => found.length > 0,
    patienceMs,
  )
  t.strictSame([kinds, await openedFor(unpaid.id)], [['payment_outcome_unknown'], []])
})

function hours(count: number): number {
  return count * 3_600_000
}

/** Runs a timer as it would run so much later. */
async function runTimer(kind: string, subject: string, laterMs = 0): Promise<Date | undefined> {
  const { dependencies } = service.service.runtime
  const clock = () => new Date(Date.now() + laterMs)
  const tools = toolsOf({ ...dependencies, clock })
  const owner = { merchant: service.service.credentials.merchant_id, livemode: false }
  const timer = {
    ...owner,
    id: `${kind}:${subject}`,
    kind,
    subject,
    dueAt: clock().toISOString(),
    attempts: 0,
  }
  return paymentIntentProcess.timers![kind]!(timer, tools)
}
