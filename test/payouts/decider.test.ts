import { payout } from '../../packages/domain/payouts/payout.ts'
import {
  at,
  wave,
  bank,
  money,
  failure,
  requested,
  sent,
  paid,
  failed,
  canceled,
  returned,
  abandoned,
  delayed,
  mine,
  savedBank,
  late,
  requestedFrom,
} from '../support/payments/payouts.ts'
import { context, scenarios } from '../support/scenarios.ts'

scenarios(payout, {
  'a payout to mobile money is expected ten minutes after its creation': {
    when: { type: 'RequestPayout', data: { money, destination: wave } },
    then: [requested],
  },
  'a payout to a bank is expected a day after its creation in live': {
    when: { type: 'RequestPayout', data: { money, destination: bank, metadata: { order: '7' } } },
    then: [
      requestedFrom({
        destination: bank,
        metadata: { order: '7' },
        expectedBy: '2026-01-02T12:00:00.000Z',
      }),
    ],
    context: { livemode: true },
  },
  "an inline bank payout of the sandbox is the engine's: expected at once, with source and environment": {
    when: { type: 'RequestPayout', data: { money, destination: bank, metadata: { ...mine, order: '7' } } },
    then: [
      requestedFrom({
        destination: bank,
        expectedBy: at,
        metadata: { source: 'payout_engine', order: '7', environment: 'sandbox' },
      }),
    ],
  },
  'a payout to a saved bank keeps the metadata of the merchant': {
    when: { type: 'RequestPayout', data: { money, ...savedBank } },
    then: [requestedFrom({ ...savedBank, expectedBy: at })],
  },
  'a payout to an operator that only collects is refused': {
    when: { type: 'RequestPayout', data: { money, destination: { ...wave, operator: 'free_money' } } },
    then: 'operator_must_take_payouts',
  },
  'a request that comes after its hold was given back is refused': {
    given: [abandoned],
    when: { type: 'RequestPayout', data: { money, destination: wave } },
    then: 'payout_must_not_be_abandoned',
  },
  'a hold without a payout is abandoned': {
    when: { type: 'AbandonPayout', data: { currency: 'XOF' } },
    then: [abandoned],
  },
  'a payout that was requested is not abandoned': {
    given: [requested],
    when: { type: 'AbandonPayout', data: { currency: 'XOF' } },
    then: [],
  },
  'a pending payout is sent': {
    given: [requested],
    when: { type: 'SendPayout', data: {} },
    then: [sent],
  },
  'a payout whose operator is no longer eligible fails instead of being sent': {
    given: [requestedFrom({ destination: { ...wave, operator: 'free_money' } })],
    when: { type: 'SendPayout', data: {} },
    then: [
      {
        type: 'PayoutFailed',
        data: {
          money,
          failure: { code: 'operator_unavailable', message: 'The operator takes no such payouts any more' },
        },
      },
    ],
  },
  'a canceled payout is never sent': {
    given: [requested, canceled],
    when: { type: 'SendPayout', data: {} },
    then: [],
  },
  'an abandoned payout does not exist': {
    given: [abandoned],
    when: { type: 'SendPayout', data: {} },
    then: 'resource_must_exist',
  },
  'a payout in transit is paid': {
    given: [requested, sent],
    when: { type: 'SettlePayout', data: {} },
    then: [paid],
  },
  'a pending payout cannot be paid': {
    given: [requested],
    when: { type: 'SettlePayout', data: {} },
    then: 'payout_must_be_in_transit',
  },
  'a failed payout cannot be paid': {
    given: [requested, sent, failed],
    when: { type: 'SettlePayout', data: {} },
    then: 'payout_must_be_in_transit',
  },
  'a payout that came back is not paid again by a late callback': {
    given: [requested, sent, paid, returned],
    when: { type: 'SettlePayout', data: {} },
    then: 'payout_must_be_in_transit',
  },
  'a payout that the operator refuses fails': {
    given: [requested, sent],
    when: { type: 'FailPayout', data: { failure } },
    then: [failed],
  },
  'a paid payout cannot fail': {
    given: [requested, sent, paid],
    when: { type: 'FailPayout', data: { failure } },
    then: 'payout_must_be_under_way',
  },
  'a pending payout can be canceled': {
    given: [requested],
    when: { type: 'CancelPayout', data: { reason: 'compliance' } },
    then: [canceled],
  },
  'a payout in transit can no longer be canceled': {
    given: [requested, sent],
    when: { type: 'CancelPayout', data: { reason: 'compliance' } },
    then: 'payout_must_be_pending',
  },
  'a paid payout can be returned': {
    given: [requested, sent, paid],
    when: { type: 'ReturnPayout', data: {} },
    then: [returned],
  },
  'a payout can be returned for ninety days': {
    given: [requested, sent, paid],
    when: { type: 'ReturnPayout', data: {} },
    then: 'payout_must_be_returnable',
    context: { now: new Date(context.now.getTime() + 90 * 86_400_000 + 1) },
  },
  'a payout that failed cannot be returned': {
    given: [requested, sent, failed],
    when: { type: 'ReturnPayout', data: {} },
    then: 'payout_must_be_paid',
  },
  'a payout that is past its time is marked as delayed once': {
    given: [requested, sent],
    when: { type: 'MarkDelayed', data: { reason: 'operator_pending' } },
    then: [{ type: 'PayoutDelayed', data: { reason: 'operator_pending' } }],
    context: late,
  },
  'a payout that is not past its time is not delayed': {
    given: [requested, sent],
    when: { type: 'MarkDelayed', data: { reason: 'operator_pending' } },
    then: [],
  },
  'a payout that has ended is not delayed': {
    given: [requested, sent, paid],
    when: { type: 'MarkDelayed', data: { reason: 'operator_pending' } },
    then: [],
    context: late,
  },
  'the reason of a delay is revised when it differs': {
    given: [requested, sent, delayed],
    when: { type: 'ReviseDelayReason', data: { reason: 'operator_down' } },
    then: [{ type: 'PayoutDelayReasonRevised', data: { reason: 'operator_down' } }],
  },
  'a payout in time has no reason to revise': {
    given: [requested, sent],
    when: { type: 'ReviseDelayReason', data: { reason: 'operator_down' } },
    then: [],
  },
  'what an operator claims against the facts is noted once': {
    given: [requested, sent, paid],
    when: { type: 'ContradictResult', data: { word: 'failed', isConfirmed: false } },
    then: [
      {
        type: 'PayoutResultContradicted',
        data: { recorded: 'paid', word: 'failed', remedy: 'case', money },
      },
    ],
  },
  'a failed payout that has arrived after all is charged again': {
    given: [requested, sent, failed],
    when: { type: 'ContradictResult', data: { word: 'paid', isConfirmed: true } },
    then: [
      {
        type: 'PayoutResultContradicted',
        data: { recorded: 'failed', word: 'paid', remedy: 'charge', money },
      },
      { type: 'PayoutChargeRequested', data: { money } },
    ],
  },
  'a person may say that a failed payout was paid': {
    given: [requested, sent, failed],
    when: { type: 'ChargePayout', data: {} },
    then: [{ type: 'PayoutChargeRequested', data: { money } }],
  },
  'a payout that is being charged is not charged twice': {
    given: [requested, sent, failed, { type: 'PayoutChargeRequested', data: { money } }],
    when: { type: 'ChargePayout', data: {} },
    then: [],
  },
  'a charge that was refused may be asked for again': {
    given: [
      requested,
      sent,
      failed,
      { type: 'PayoutChargeRequested', data: { money } },
      { type: 'PayoutChargeRefused', data: { money, reason: 'Too little' } },
    ],
    when: { type: 'ChargePayout', data: {} },
    then: [{ type: 'PayoutChargeRequested', data: { money } }],
  },
  'a charge is refused once': {
    given: [requested, sent, failed, { type: 'PayoutChargeRequested', data: { money } }],
    when: { type: 'RefuseCharge', data: { reason: 'Too little' } },
    then: [{ type: 'PayoutChargeRefused', data: { money, reason: 'Too little' } }],
  },
  'a payout that came back is not charged again': {
    given: [requested, sent, paid, { type: 'PayoutReturned', data: { money } }],
    when: { type: 'ChargePayout', data: {} },
    then: 'payout_must_have_failed',
  },
  'a payout that was charged late is paid, and is charged no more': {
    given: [
      requested,
      sent,
      failed,
      { type: 'PayoutChargeRequested', data: { money } },
      { type: 'PayoutPaidLate', data: { money } },
    ],
    when: { type: 'ChargePayout', data: {} },
    then: [],
  },
  'a payout of unknown outcome is escalated once': {
    given: [requested, sent],
    when: { type: 'EscalatePayout', data: {} },
    then: [{ type: 'PayoutEscalated', data: {} }],
  },
  'a payout that has ended is not escalated': {
    given: [requested, sent, paid],
    when: { type: 'EscalatePayout', data: {} },
    then: [],
  },
})
