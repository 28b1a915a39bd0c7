import t from 'tap'
import { identity } from '../../packages/contract/identity.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { balances } from '../../packages/domain/ledger/state.ts'
import { payout } from '../../packages/domain/payouts/payout.ts'
import { recordedEvent, readState } from '../../packages/kernel/history.ts'
import {
  RailTimeoutError,
  RailUnavailableError,
  type PaymentRails,
  type RailState,
} from '../../packages/kernel/ports/rails.ts'
import type { DueTimer } from '../../packages/kernel/ports/reads.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import { toolsOf } from '../../services/processes/runner/main.ts'
import { payoutProcess } from '../../services/processes/payouts.ts'
import { holdProcess } from '../../services/processes/unclaimed-holds.ts'
import type { Tools } from '../../services/processes/runner/process.ts'
import { eventually } from '../support/eventually.ts'
import { holdOf } from '../support/ledger/ledger-commands.ts'
import { startService, type TestService } from '../support/service.ts'

type Body = Record<string, unknown>

const wave = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' } as const
const order = { amount: 5_000, currency: 'XOF', destination: wave }

let service: TestService

t.before(async () => {
  service = await startService(t)
})

/** An operator that notes what it is asked, and answers what the test says. */
class NotingRail implements PaymentRails {
  readonly asked: string[] = []
  readonly #answers: Readonly<Partial<Record<'submit' | 'status', RailState | Error>>>

  constructor(answers: Readonly<Partial<Record<'submit' | 'status', RailState | Error>>>) {
    this.#answers = answers
  }

  serves = () => true
  submit = ({ reference }: { readonly reference: string }) => this.#answer('submit', reference)
  status = (reference: string) => this.#answer('status', reference)
  health = async () => 'up' as const
  onCallback = () => ({ close: async () => undefined })

  async #answer(call: 'submit' | 'status', reference: string): Promise<RailState> {
    this.asked.push(`${call} ${reference}`)
    const answer = this.#answers[call] ?? { state: 'pending' }
    if (answer instanceof Error) throw answer
    return answer
  }
}

function toolsWith(rail?: PaymentRails): Tools {
  const { dependencies } = service.service.runtime
  return toolsOf(rail ? { ...dependencies, rail } : dependencies)
}

const owner = () => ({ merchant: service.service.credentials.merchant_id, livemode: false })

function timer(kind: string, subject: string): DueTimer {
  return { id: `${kind}:${subject}`, kind, subject, ...owner(), dueAt: new Date().toISOString(), attempts: 0 }
}

async function shown(id: string): Promise<Body> {
  return (await service.get(`/api/v1/payouts/${id}`)).body
}

/** A payout that has been sent and stays in transit, because its number has no magic. */
async function inTransit(body: object = order): Promise<string> {
  const { body: created } = await service.post('/api/v1/payouts', body)
  const id = identity(String(created['id']), 'po')!
  await eventually(
    () => shown(id),
    ({ status }) => status === 'in_transit',
  )
  return id
}

/** The operator has it by now, or has said that it is down. */
async function submitted(body: object): Promise<string> {
  const { rail } = service.service.runtime.dependencies
  const id = await inTransit(body)
  const heard = () =>
    rail.status(id, { livemode: false, method: wave }).then(
      ({ state }) => state,
      () => 'silent',
    )
  if (body !== down) await eventually(heard, (state) => state !== 'never_received')
  return id
}

const silent = toBank('0004')
const waiting = toBank('0005')
const down = toBank('0006')

function toBank(ending: string) {
  const account_number = `00000000${ending}`
  return { ...order, destination: { type: 'bank', bank_code: 'SN010', account_number, account_name: 'Awa' } }
}

function historyOf(id: string) {
  return service.service.runtime.dependencies.store.readStream(`payout-${id}`, 0)
}

async function eventsOf(id: string): Promise<readonly string[]> {
  return (await historyOf(id)).map(({ type }) => type)
}

async function react(id: string, rail: PaymentRails, mayHaveRun: boolean): Promise<void> {
  const stored = (await historyOf(id)).find(({ type }) => type === 'PayoutSent')!
  const event = recordedEvent(payout, stored) as RecordedEvent<never>
  await payoutProcess.reactions!['PayoutSent']!({ event, mayHaveRun, tools: toolsWith(rail) })
}

async function hear(id: string, result: RailState): Promise<void> {
  const callback = { reference: id, kind: 'disbursement', ...owner(), result } as const
  await payoutProcess.callbacks!.disbursement!(callback, toolsWith())
}

async function money() {
  const { dependencies } = service.service.runtime
  return balances(await readState(dependencies.store, book, bookId(owner().merchant, false, 'XOF')))
}

t.test("a payout is submitted under its own id, and the operator's answer is believed", async (t) => {
  const id = await inTransit()
  const rail = new NotingRail({ submit: { state: 'succeeded' } })
  await react(id, rail, false)
  t.strictSame(rail.asked, [`submit ${id}`])
  t.equal((await shown(id))['status'], 'paid')
})

t.test('after a crash the operator is asked first, and what it has got is not submitted again', async (t) => {
  const id = await inTransit()
  for (const status of [{ state: 'pending' }, new RailTimeoutError('no answer')] as const) {
    const rail = new NotingRail({ status })
    await react(id, rail, true)
    t.strictSame(rail.asked, [`status ${id}`])
  }
  t.equal((await shown(id))['status'], 'in_transit')
})

t.test('what the operator guarantees not to have got is submitted again by the same reference', async (t) => {
  const id = await inTransit()
  const rail = new NotingRail({ status: { state: 'never_received' } })
  await react(id, rail, true)
  t.strictSame(rail.asked, [`status ${id}`, `submit ${id}`])
})

t.test('a payout of unknown outcome stays in transit and is asked about by schedule', async (t) => {
  const id = await inTransit()
  await react(id, new NotingRail({ submit: new RailTimeoutError('no answer') }), false)
  await react(id, new NotingRail({ submit: new RailUnavailableError('down') }), false)
  t.equal((await shown(id))['status'], 'in_transit')
  const rail = new NotingRail({ status: new RailTimeoutError('no answer') })
  const next = await payoutProcess.timers!['payout_status']!(timer('payout_status', id), toolsWith(rail))
  t.strictSame(rail.asked, [`status ${id}`])
  const state = await readState(service.service.runtime.dependencies.store, payout, id)
  t.equal(next?.getTime(), state.status === 'in_transit' && Date.parse(state.sentAt) + 30_000)
})

t.test('after three days without an outcome people are told, and the operator is asked daily', async (t) => {
  const id = await inTransit()
  const tools = toolsWith(new NotingRail({ status: new RailTimeoutError('no answer') }))
  const now = new Date(Date.now() + 73 * 3_600_000)
  const later = { ...tools, dependencies: { ...tools.dependencies, clock: () => now } }
  const next = await payoutProcess.timers!['payout_status']!(timer('payout_status', id), later)
  t.equal(next?.getTime(), now.getTime() + 24 * 3_600_000)
  t.ok((await eventsOf(id)).includes('PayoutEscalated'))
  t.equal((await shown(id))['status'], 'in_transit')
})

t.test('an operator that answers a question ends the payout', async (t) => {
  const id = await inTransit()
  const rail = new NotingRail({ status: { state: 'failed', code: 'no such code', message: '' } })
  await payoutProcess.timers!['payout_status']!(timer('payout_status', id), toolsWith(rail))
  t.match(await shown(id), { status: 'failed', failure_code: 'could_not_process' })
  const next = await payoutProcess.timers!['payout_status']!(timer('payout_status', id), toolsWith(rail))
  t.equal(next, undefined)
})

t.test('a late payout says why: the operator is silent, has it pending, or is down', async (t) => {
  const reasons = [
    [silent, 'operator_timeout'],
    [waiting, 'operator_pending'],
    [down, 'operator_down'],
  ] as const
  for (const [body, delay_reason] of reasons) {
    const id = await submitted(body)
    await payoutProcess.timers!['payout_late']!(timer('payout_late', id), toolsWith())
    t.match(await shown(id), { status: 'in_transit', delay_state: 'delayed', delay_reason })
  }
})

t.test('the reason of a delay follows the operator, and ends with the payout', async (t) => {
  const id = await submitted(down)
  await payoutProcess.timers!['payout_late']!(timer('payout_late', id), toolsWith())
  const pending = new NotingRail({ status: { state: 'pending' } })
  await payoutProcess.timers!['payout_status']!(timer('payout_status', id), toolsWith(pending))
  t.match(await shown(id), { delay_state: 'delayed', delay_reason: 'operator_pending' })
  await hear(id, { state: 'succeeded' })
  t.match(await shown(id), { status: 'paid', delay_state: null, delay_reason: 'operator_pending' })
})

t.test('an operator that contradicts itself is noted once and not believed', async (t) => {
  const id = await inTransit()
  const lie = { state: 'failed', code: 'operator_declined', message: 'no' } as const
  const truth = { state: 'succeeded' } as const
  for (const result of [truth, truth, lie, lie]) await hear(id, result)
  t.equal((await shown(id))['status'], 'paid')
  t.strictSame(await eventsOf(id), [
    'PayoutRequested',
    'PayoutSent',
    'PayoutPaid',
    'PayoutResultContradicted',
  ])
})

t.test('money that comes back fails the payout and is available again, with the fee', async (t) => {
  const before = (await eventually(money, ({ reserved }) => reserved >= 0)).available
  const id = await inTransit()
  await hear(id, { state: 'returned' })
  await hear(id, { state: 'returned' })
  t.match(await shown(id), { status: 'failed', failure_code: 'returned' })
  t.strictSame(await eventsOf(id), ['PayoutRequested', 'PayoutSent', 'PayoutPaid', 'PayoutReturned'])
  await eventually(money, ({ available }) => available === before)
})

t.test('an operator that speaks of an unknown payout is not asked to repeat itself', async (t) => {
  await t.resolves(hear('0190a1b2-0000-7000-8000-000000000009', { state: 'succeeded' }))
})

t.test('a hold whose request was cut short is given back', async (t) => {
  const { dependencies } = service.service.runtime
  const id = dependencies.newId()
  const before = await money()
  const envelope = { ...owner(), actor: 'key:test', correlation: 'test' }
  const data = holdOf({ template: 'payout.hold', subject: { type: 'payout', id }, amount: 1_000, fee: 50 })
  const xof = bookId(owner().merchant, false, 'XOF')
  await dependencies.executor.send(book, xof, { type: 'PlaceHold', data }, envelope)
  t.equal((await money()).available, before.available - 1_050)
  const where = [{ column: 'id', operator: '=', value: `hold_unclaimed:${id}.XOF` }] as const
  const timers = async () =>
    (await dependencies.reads.page({ from: 'timers', where, order: 'id', limit: 1 })).rows
  await eventually(timers, ({ length }) => length === 1)
  await holdProcess.timers!['hold_unclaimed']!(timer('hold_unclaimed', `${id}.XOF`), toolsWith())
  t.strictSame(await money(), before)
  await eventually(timers, ({ length }) => length === 0)
  t.equal((await service.get(`/api/v1/payouts/${id}`)).status, 404)
})

t.test('a hold whose payout was requested is left alone', async (t) => {
  const id = await inTransit()
  const before = await money()
  await holdProcess.timers!['hold_unclaimed']!(timer('hold_unclaimed', `${id}.XOF`), toolsWith())
  t.strictSame(await money(), before)
  t.equal((await shown(id))['status'], 'in_transit')
})
