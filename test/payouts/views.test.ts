import t from 'tap'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import type { PayoutEvents } from '../../packages/domain/payouts/events.ts'
import { payout } from '../../packages/domain/payouts/payout.ts'
import { payoutPolicies } from '../../packages/domain/payouts/policies.ts'
import { payouts } from '../../packages/domain/payouts/index.ts'
import { viewPayout } from '../../packages/domain/payouts/resource.ts'
import { payoutTimers } from '../../packages/domain/payouts/timers.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import {
  at,
  owner,
  wave,
  bank,
  money,
  requested,
  sent,
  paid,
  failed,
  canceled,
  returned,
  abandoned,
  delayed,
  requestedFrom,
} from '../support/payments/payouts.ts'
import { context, fold } from '../support/scenarios.ts'

function viewAfter(...history: readonly Message<PayoutEvents>[]) {
  return viewPayout(context.id, fold(payout, history))
}

function recorded({ type, data }: Message<PayoutEvents>): RecordedEvent<never> {
  const metadata = { ...owner, actor: 'key:1', at, version: 1, correlation: 'c' }
  const { id } = context
  const place = { stream: `payout-${id}`, category: 'payout', id, revision: 0, position: 1 }
  return { ...place, type, data, metadata, eventId: 'e' } as RecordedEvent as RecordedEvent<never>
}

t.test('a payout shows the fields of the specification', async (t) => {
  t.strictSame(viewAfter(requested), {
    id: 'po_0190a1b2000070008000000000000001',
    object: 'payout',
    livemode: false,
    created: 1_767_268_800,
    amount: 5_000,
    currency: 'XOF',
    fee: 50,
    status: 'pending',
    destination: wave,
    payout_method_id: null,
    payout_batch: null,
    arrival_date_estimate: '2026-01-01T12:10:00.000Z',
    expected_by: '2026-01-01T12:10:00.000Z',
    delay_state: null,
    delay_reason: null,
    delayed_at: null,
    metadata: {},
    failure_code: null,
    failure_message: null,
  })
})

t.test('a bank destination shows the fields of the request and its currency', async (t) => {
  t.strictSame(viewAfter(requestedFrom({ destination: bank }))?.destination, {
    type: 'bank',
    currency: 'XOF',
    bank_code: 'SN010',
    account_number: '0012345678',
    account_name: 'A',
  })
})

t.test('a payout that was late and has ended keeps when and why, but is delayed no more', async (t) => {
  const why = { delay_reason: 'unknown', delayed_at: at }
  t.match(viewAfter(requested, sent, delayed), { delay_state: 'delayed', ...why })
  t.match(viewAfter(requested, sent, delayed, paid), { delay_state: null, ...why })
})

t.test('a payout that came back has failed with the code returned', async (t) => {
  t.match(viewAfter(requested, sent, paid, returned), { status: 'failed', failure_code: 'returned' })
})

t.test('a canceled payout has no failure', async (t) => {
  t.match(viewAfter(requested, canceled), { status: 'canceled', failure_code: null, failure_message: null })
})

t.test('an abandoned payout is shown nowhere', async (t) => {
  t.equal(viewAfter(abandoned), undefined)
})

t.test('a webhook says the currency in lower case', async (t) => {
  const [told] = payouts.publicEvents!
  const shown = told!.view(context.id, fold(payout, [requested]) as never, recorded(requested))
  t.match(shown, { object: 'payout', currency: 'xof' })
  t.equal(told!.typeOf(recorded(returned)), 'payout.failed')
})

t.test('the hold of a payout goes the way of the payout', async (t) => {
  const orders = (event: Message<PayoutEvents>) =>
    payoutPolicies
      .flatMap(({ on }) => on[event.type]?.(recorded(event)) ?? [])
      .map(({ id, command }) => ({ id, command }))
  const id = bookId(context.merchant, false, 'XOF')
  const holdId = context.id
  t.strictSame(orders(requested), [{ id: holdId, command: { type: 'SendPayout', data: {} } }])
  t.strictSame(orders(sent), [{ id, command: { type: 'AdvanceHold', data: { holdId } } }])
  t.strictSame(orders(paid), [{ id, command: { type: 'PostHold', data: { holdId, rail: money.rail } } }])
  t.strictSame(orders(failed), [{ id, command: { type: 'VoidHold', data: { holdId } } }])
  t.strictSame(orders(canceled), [{ id, command: { type: 'VoidHold', data: { holdId } } }])
  const back = { template: 'payout.return', parts: [{ amount: 5_000, fee: 50 }] }
  t.match(orders(returned), [{ id, command: { type: 'PostEntry', data: back } }])
})

t.test('a payout is asked about thirty seconds after its sending, and is late when expected', async (t) => {
  const changes = (event: Message<PayoutEvents>) => payoutTimers[event.type]?.(recorded(event)) ?? []
  t.match(changes(sent), [{ put: { kind: 'payout_status', due_at: '2026-01-01T12:00:30.000Z' } }])
  t.match(changes(requested)[1], { put: { kind: 'payout_late', due_at: '2026-01-01T12:10:00.000Z' } })
  t.match(changes(requestedFrom({ expectedBy: at }))[1], { put: { due_at: '2026-01-01T12:00:15.000Z' } })
  t.strictSame(changes(requested)[0], { remove: { id: `hold_unclaimed:${context.id}.XOF` } })
  for (const end of [paid, failed, canceled]) {
    t.strictSame(changes(end), [
      { remove: { id: `payout_late:${context.id}` } },
      { remove: { id: `payout_status:${context.id}` } },
    ])
  }
})
