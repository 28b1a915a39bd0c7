import t from 'tap'
import { SandboxOperations } from '../../infra/postgres/sandbox-operations.ts'
import { RailRegistry } from '../../infra/rails/registry.ts'
import { SimulatedOperators } from '../../infra/rails/sandbox.ts'
import { derivedId, identity } from '../../packages/contract/identity.ts'
import { Refusal } from '../../packages/contract/refusals.ts'
import type { Dependencies } from '../../packages/contract/routes.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { balances } from '../../packages/domain/ledger/state.ts'
import { isLateRefunded } from '../../packages/domain/payment-intents/late-refunds.ts'
import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { created } from '../../packages/domain/payment-intents/state.ts'
import type { AnyDecider } from '../../packages/kernel/decider.ts'
import { readState } from '../../packages/kernel/history.ts'
import { confirmPaymentIntent, unknownOutcome } from '../../services/api/actions/payment-intents.ts'
import { HttpRequest } from '../../services/api/http/request.ts'
import { paymentIntentProcess } from '../../services/processes/payment-intents.ts'
import { toolsOf } from '../../services/processes/runner/main.ts'
import { refundProcess } from '../../services/processes/refunds.ts'
import { holdProcess } from '../../services/processes/unclaimed-holds.ts'
import { holdOf } from '../support/ledger/ledger-commands.ts'
import { eventually } from '../support/eventually.ts'
import { startService, type TestService } from '../support/service.ts'

type Body = Record<string, unknown>

const orange = {
  type: 'mobile_money',
  country: 'SN',
  operator: 'orange_money',
  msisdn: '+221770000000',
} as const
const minute = 60_000

let service: TestService

t.before(async () => {
  service = await startService(t)
})

function owner() {
  return { merchant: service.service.credentials.merchant_id, livemode: false }
}

async function send(decider: AnyDecider, id: string, command: { type: string; data: object }): Promise<void> {
  const envelope = { ...owner(), actor: 'test', correlation: 'test' }
  await service.service.runtime.dependencies.executor.sendAll(decider, id, [{ command, envelope }])
}

/** Runs a timer as it would run so much later. */
async function runTimer(kind: string, subject: string, laterMs = 0): Promise<Date | undefined> {
  const { dependencies } = service.service.runtime
  const clock = () => new Date(Date.now() + laterMs)
  const tools = toolsOf({ ...dependencies, clock })
  const timers = { ...paymentIntentProcess.timers, ...refundProcess.timers, ...holdProcess.timers }
  const id = `${kind}:${subject}`
  return timers[kind]!({ ...owner(), id, kind, subject, dueAt: clock().toISOString(), attempts: 0 }, tools)
}

async function isDue(id: string): Promise<boolean> {
  const { reads } = service.service.runtime.dependencies
  const { rows } = await reads.page({
    from: 'timers',
    where: [{ column: 'id', operator: '=', value: id }],
    order: 'id',
    limit: 1,
  })
  return rows.length > 0
}

async function create(): Promise<string> {
  const { body } = await service.post('/api/v1/payment-intents', {
    amount: 5_000,
    currency: 'XOF',
    transaction_country: 'SN',
  })
  return identity(String(body['id']), 'pi')!
}

async function shown(id: string): Promise<Body> {
  return (await service.get(`/api/v1/payment-intents/${id}`)).body
}

/** As if the process had died before it called the provider. */
async function lock(id: string): Promise<string> {
  const data = { method: orange, preferredFlow: null, returnUrl: null, statusPages: 'http://localhost' }
  await send(paymentIntent, id, { type: 'ConfirmIntent', data })
  return derivedId(id, 'confirmation 1')
}

function confirm(id: string, payment_method: object) {
  return service.post(`/api/v1/payment-intents/${id}/confirm`, { payment_method })
}

async function money() {
  return balances(
    await readState(service.service.runtime.dependencies.store, book, bookId(owner().merchant, false, 'XOF')),
  )
}

const { type, ...payer } = orange
const byOrange = { type, mobile_money: payer }

t.test('a confirmation that died before its call is freed after the provider has denied it', async (t) => {
  const id = await create()
  await lock(id)
  await eventually(
    () => isDue(`intent_lock:${id}`),
    (due) => due,
  )
  t.match(await confirm(id, byOrange), { status: 409, body: { code: 'IKW-RES-003' } })
  await runTimer('intent_lock', id, minute)
  t.match(await shown(id), { status: 'requires_payment_method', operation_id: null })
  await eventually(
    () => isDue(`intent_lock:${id}`),
    (due) => !due,
  )
  t.match(await confirm(id, byOrange), { status: 200, body: { status: 'processing' } })
})

t.test('the timer of one confirmation does not break the lock of the next', async (t) => {
  const id = await create()
  await lock(id)
  await runTimer('intent_lock', id, minute)
  await lock(id)
  const again = await runTimer('intent_lock', id)
  t.ok(again && again.getTime() > Date.now(), 'it comes again when the lease is over')
  t.match(await confirm(id, byOrange), { status: 409, body: { code: 'IKW-RES-003' } })
})

t.test('a confirmation whose answer was lost keeps its lock, goes on, and is not made again', async (t) => {
  const id = await create()
  const { dependencies, postgres } = service.service.runtime
  const operators = new SimulatedOperators({
    book: new SandboxOperations(postgres.pool),
    clock: dependencies.clock,
    redirectBase: dependencies.baseUrl,
    answerLate: () => true,
  })
  const rail = new RailRegistry([{ environments: ['sandbox'], rail: operators }])
  const lost = confirmPaymentIntent(asking(id, { ...dependencies, rail }))
  await t.rejects(lost, new Refusal('dependency_must_answer_in_time', { detail: unknownOutcome }))
  t.match(await confirm(id, byOrange), { status: 409, body: { code: 'IKW-RES-003' } })
  await runTimer('intent_lock', id, minute)
  t.match(await shown(id), { status: 'processing' })
  const calls = 'select calls from sandbox_operations where reference = $1'
  const { rows } = await postgres.pool.query(calls, [derivedId(id, 'confirmation 1')])
  t.strictSame(rows, [{ calls: 1 }])
})

/** The request of a merchant who confirms, as the action sees it. */
function asking(id: string, dependencies: Dependencies) {
  const body = { payment_method: byOrange }
  const envelope = { ...owner(), actor: 'test', correlation: 'test' }
  const caller = { ...owner(), actor: 'test', credential: 'api_key', scopes: ['*'] } as const
  const parts = { dependencies, caller, envelope, id, subject: id, path: '', params: { id }, query: {}, body }
  const unbound = { minPosition: undefined, lastWritten: 0, ifRevision: undefined }
  const findClient = () => ({ address: null, device: null, country: null, language: null })
  const request = new HttpRequest({ ...parts, ...unbound, findClient })
  return request as Parameters<typeof confirmPaymentIntent>[0]
}

t.test('a payment that its operator calls pending is not failed, however late it is', async (t) => {
  const id = await create()
  await confirm(id, byOrange)
  t.type(await runTimer('intent_status', id, 6 * minute), Date)
  t.match(await shown(id), { status: 'processing' })
})

t.test('a payer who never comes to the provider lets the payment fail after fifteen minutes', async (t) => {
  const id = await create()
  await confirm(id, { type, mobile_money: { ...payer, operator: 'wave' } })
  t.type(await runTimer('intent_status', id, 14 * minute), Date)
  t.match(await shown(id), { status: 'requires_action' })
  await runTimer('intent_status', id, 15 * minute)
  t.match(await shown(id), { status: 'failed', failure_code: 'payment_timeout' })
  await eventually(
    () => isDue(`intent_status:${id}`),
    (due) => !due,
  )
})

t.test('a success whose callback was lost is found by asking', async (t) => {
  const id = await create()
  const { body } = await confirm(id, byOrange)
  const reference = identity(String(body['operation_id']), 'op')!
  await service.service.runtime.dependencies.sandboxRail.resolve(reference, { state: 'succeeded' })
  await runTimer('intent_status', id)
  t.match(await shown(id), { status: 'succeeded' })
})

t.test('a payer who has paid an intent that is canceled then gets the money back', async (t) => {
  const { dependencies } = service.service.runtime
  const id = await create()
  await confirm(id, { type, mobile_money: { ...payer, operator: 'wave' } })
  const { attempts } = created(await readState(dependencies.store, paymentIntent, id))
  // The operator's callback is lost.
  await dependencies.sandboxRail.resolve(attempts.at(-1)!.operationId, { state: 'succeeded' })
  t.match((await service.post(`/api/v1/payment-intents/${id}/cancel`, {})).body, { status: 'canceled' })
  const intent = await eventually(
    async () => created(await readState(dependencies.store, paymentIntent, id)),
    ({ late }) => late.length > 0,
  )
  await eventually(
    async () => created(await readState(dependencies.store, paymentIntent, id)),
    (now) => intent.late.every((operationId) => isLateRefunded(now, operationId)),
  )
})

t.test('money from a card becomes available, but for what refunds have taken', async (t) => {
  const id = await create()
  await confirm(id, { type: 'card', card: { token: 'tok_instant' } })
  const before = await eventually(money, ({ pending }) => pending === 4_755)
  await eventually(
    () => isDue(`payment_available:${id}.XOF`),
    (due) => due,
  )
  await service.post(`/api/v1/merchant/payments/${id}/refund`, { amount: 1_000 })
  const refunded = await eventually(money, ({ pending, reserved }) => pending === 3_755 && reserved === 0)
  t.equal(refunded.available, before.available)
  await runTimer('payment_available', `${id}.XOF`)
  t.strictSame(await money(), { available: before.available + 3_755, pending: 0, reserved: 0 })
  await eventually(
    () => isDue(`payment_available:${id}.XOF`),
    (due) => !due,
  )
  const path = `/api/v1/balance-transactions?source=${id}`
  const { body } = await eventually(
    () => service.get<{ data: Body[] }>(path),
    (answer) => {
      return answer.body.data[0]?.['status'] === 'available'
    },
  )
  t.match(body.data, [{ type: 'payment', net: 4_755 }])
})

t.test('a refund whose request died gives back what it had reserved and held', async (t) => {
  const id = await create()
  await confirm(id, byOrange)
  const before = await money()
  await service.post('/api/test/mobile-money/callback', { payment_intent_id: id, status: 'succeeded' })
  const paid = await eventually(money, ({ available }) => available === before.available + 4_900)
  const refund = derivedId(id, 'a refund that is never requested')
  await send(paymentIntent, id, { type: 'ReserveRefund', data: { refund, amount: 5_000 } })
  const hold = holdOf({
    template: 'refund.hold',
    subject: { type: 'refund', id: refund },
    amount: 5_000,
    payment: id,
  })
  await send(book, bookId(owner().merchant, false, 'XOF'), { type: 'PlaceHold', data: hold })
  await eventually(
    () => isDue(`hold_unclaimed:${refund}.XOF`),
    (due) => due,
  )
  t.match(await service.post(`/api/v1/merchant/payments/${id}/refund`), { status: 409 })
  await runTimer('hold_unclaimed', `${refund}.XOF`)
  t.strictSame(await money(), paid)
  await runTimer('refund_unrequested', `${refund}.${id}`)
  const state = () => readState(service.service.runtime.dependencies.store, paymentIntent, id)
  await eventually(state, (intent) => {
    const now = created(intent)
    return now.status === 'succeeded' && Object.keys(now.payment.refunds).length === 0
  })
  t.match(await service.post(`/api/v1/merchant/payments/${id}/refund`), {
    status: 201,
    body: { amount: 5_000 },
  })
})
