import type { Message } from '../../packages/kernel/decider.ts'
import {
  transfer,
  type TransferEvents,
  type TransferTerms,
} from '../../packages/domain/transfers/transfer.ts'
import { context, scenarios } from '../support/scenarios.ts'

type Event = Message<TransferEvents>

const terms: TransferTerms = {
  amount: 2_000,
  currency: 'XOF',
  from: { merchant: context.merchant, account: 'merchant.available' },
  to: { merchant: '0190a1b2-0000-7000-8000-00000000000b', account: 'merchant.available' },
  description: null,
}
const asked = { type: 'RequestTransfer', data: terms } as const
const reason = 'Balance has 0 XOF available; this transfer needs 2,000'
const requested: Event = { type: 'TransferRequested', data: terms }
const refused: Event = { type: 'TransferRefused', data: { reason } }
const sent: Event = { type: 'TransferSent', data: terms }
const received: Event = { type: 'TransferReceived', data: terms }
const rejected: Event = { type: 'TransferRejected', data: { ...terms, reason } }
const settled: Event = { type: 'TransferSettled', data: {} }
const returned: Event = { type: 'TransferReturned', data: {} }

scenarios(transfer, {
  'a transfer is asked for once': { when: asked, then: [requested] },
  'a transfer of another amount has another id': {
    given: [requested],
    when: { type: 'RequestTransfer', data: { ...terms, amount: 1 } },
    then: 'idempotency_key_must_be_for_one_request',
  },
  'what has left the paying book is sent': {
    given: [requested],
    when: { type: 'RecordOut', data: {} },
    then: [sent],
  },
  'what the paying book does not cover is refused, and nothing has moved': {
    given: [requested],
    when: { type: 'RefuseOut', data: { reason } },
    then: [refused],
  },
  'what was sent is not refused any more': {
    given: [requested, sent],
    when: { type: 'RefuseOut', data: { reason } },
    then: [],
  },
  'what the other book has taken is received': {
    given: [requested, sent],
    when: { type: 'RecordIn', data: {} },
    then: [received],
  },
  'what the other book does not take is rejected': {
    given: [requested, sent],
    when: { type: 'RefuseIn', data: { reason } },
    then: [rejected],
  },
  'what was received is not rejected': {
    given: [requested, sent, received],
    when: { type: 'RefuseIn', data: { reason } },
    then: [],
  },
  'a transfer that was received is settled when clearing is empty': {
    given: [requested, sent, received],
    when: { type: 'RecordSettlement', data: {} },
    then: [settled],
  },
  'a transfer that was rejected is returned when clearing is empty': {
    given: [requested, sent, rejected],
    when: { type: 'RecordReturn', data: {} },
    then: [returned],
  },
  'a transfer that nobody has asked for is none': {
    when: { type: 'RecordOut', data: {} },
    then: 'resource_must_exist',
  },
})
