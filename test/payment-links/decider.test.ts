import t from 'tap'
import {
  idOfSlug,
  paymentLink,
  slugOf,
  type PaymentLinkEvents,
} from '../../packages/domain/payment-links/payment-link.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { context, scenarios } from '../support/scenarios.ts'

const terms = {
  amount: 5_000,
  currency: 'XOF',
  country: 'CI',
  feeMode: 'merchant_pays' as const,
  description: 'Solar lamp',
  methods: ['mobile_money' as const],
  expiresAt: '2026-01-02T12:00:00.000Z',
  isSingleUse: false,
}
type Happening = Message<PaymentLinkEvents>
const url = `https://pay.example/pay/${slugOf(context.id)}`
const created: Happening = { type: 'PaymentLinkCreated', data: { ...terms, url } }
const forOne: Happening = { type: 'PaymentLinkCreated', data: { ...terms, url, isSingleUse: true } }
const [awa, ben] = ['0190a1b2-0000-7000-8000-0000000000a1', '0190a1b2-0000-7000-8000-0000000000b1']
const [paymentOfAwa, paymentOfBen] = [
  '0190a1b2-0000-7000-8000-0000000000a2',
  '0190a1b2-0000-7000-8000-0000000000b2',
]
const reservedByAwa: Happening = {
  type: 'PaymentLinkReserved',
  data: { session: awa, paymentIntent: paymentOfAwa },
}
const reservedByBen: Happening = {
  type: 'PaymentLinkReserved',
  data: { session: ben, paymentIntent: paymentOfBen },
}
const used = (cause: number, isUsedUp = false): Happening => {
  return { type: 'PaymentLinkUsed', data: { session: awa, cause, isUsedUp } }
}
const returned = (cause: number, expiresAt: string | null): Happening => {
  return { type: 'PaymentLinkUseReturned', data: { session: awa, cause, expiresAt } }
}
const deactivated: Happening = { type: 'PaymentLinkDeactivated', data: {} }
const because = (position: number) => ({ cause: { policy: 'payment_link_use', position } })

scenarios(paymentLink, {
  'a link is known by its slug': {
    when: { type: 'CreateLink', data: { ...terms, pages: 'https://pay.example/pay' } },
    then: [created],
  },
  'many may pay at a time': {
    given: [created],
    when: { type: 'ReserveLink', data: { session: ben, paymentIntent: paymentOfBen, instead: null } },
    then: [],
  },
  'a link for one payment is reserved by whoever pays': {
    given: [forOne],
    when: { type: 'ReserveLink', data: { session: awa, paymentIntent: paymentOfAwa, instead: null } },
    then: [reservedByAwa],
  },
  'nobody else pays meanwhile': {
    given: [forOne, reservedByAwa],
    when: { type: 'ReserveLink', data: { session: ben, paymentIntent: paymentOfBen, instead: null } },
    then: 'payment_link_must_not_be_in_use',
  },
  'somebody else may pay when that payment has ended': {
    given: [forOne, reservedByAwa],
    when: { type: 'ReserveLink', data: { session: ben, paymentIntent: paymentOfBen, instead: paymentOfAwa } },
    then: [reservedByBen],
  },
  'whoever was paid for in between has to wait': {
    given: [forOne, reservedByAwa, reservedByBen],
    when: { type: 'ReserveLink', data: { session: awa, paymentIntent: paymentOfAwa, instead: null } },
    then: 'payment_link_must_not_be_in_use',
  },
  'an earlier try of the same session, which comes late, does not take it from the newest one': {
    given: [forOne, reservedByAwa],
    when: { type: 'ReserveLink', data: { session: awa, paymentIntent: paymentOfBen, instead: null } },
    then: 'payment_link_must_not_be_in_use',
  },
  'a link for one payment is used up by it': {
    given: [forOne, reservedByAwa],
    when: { type: 'UseLink', data: { session: awa } },
    then: [used(7, true)],
    context: because(7),
  },
  'a link that was paid is not paid again': {
    given: [forOne, reservedByAwa, used(7, true)],
    when: { type: 'ReserveLink', data: { session: ben, paymentIntent: paymentOfBen, instead: null } },
    then: 'checkout_session_must_be_payable',
  },
  'a link for one payment is open again when the operator has taken the money back': {
    given: [forOne, reservedByAwa, used(7, true)],
    when: { type: 'ReturnUse', data: { session: awa } },
    then: [returned(9, terms.expiresAt)],
    context: because(9),
  },
  'a link that was closed while somebody paid by it stays closed when the money is taken back': {
    given: [forOne, reservedByAwa, deactivated, used(7, true)],
    when: { type: 'ReturnUse', data: { session: awa } },
    then: [returned(9, null)],
    context: because(9),
  },
  'a link that was paid is closed for the case that the money is taken back': {
    given: [forOne, reservedByAwa, used(7, true)],
    when: { type: 'DeactivateLink', data: {} },
    then: [deactivated],
  },
  'what was taken back does not count, and closes or opens nothing else': {
    given: [created, used(7)],
    when: { type: 'ReturnUse', data: { session: awa } },
    then: [returned(9, null)],
    context: because(9),
  },
  'what was taken back is taken back once': {
    given: [created, used(7), returned(9, null)],
    when: { type: 'ReturnUse', data: { session: awa } },
    then: [],
    context: because(9),
  },
  'a link that is open again is paid by one': {
    given: [forOne, reservedByAwa, used(7, true), returned(9, terms.expiresAt)],
    when: { type: 'ReserveLink', data: { session: ben, paymentIntent: paymentOfBen, instead: paymentOfAwa } },
    then: [reservedByBen],
  },
  'each payment counts': {
    given: [created, used(7)],
    when: { type: 'UseLink', data: { session: awa } },
    then: [used(9)],
    context: because(9),
  },
  'a payment counts once, however often it is told': {
    given: [created, used(7), used(9)],
    when: { type: 'UseLink', data: { session: awa } },
    then: [],
    context: because(7),
  },
  'who was paying when a link was closed still counts': {
    given: [created, deactivated],
    when: { type: 'UseLink', data: { session: awa } },
    then: [used(9)],
    context: because(9),
  },
  'a link is closed': {
    given: [created],
    when: { type: 'DeactivateLink', data: {} },
    then: [deactivated],
  },
  'a link expires in time': {
    given: [created],
    when: { type: 'ExpireLink', data: {} },
    then: [{ type: 'PaymentLinkExpired', data: {} }],
    context: { now: new Date('2026-01-02T12:00:00.000Z') },
  },
  'a link does not expire before': {
    given: [created],
    when: { type: 'ExpireLink', data: {} },
    then: [],
  },
})

t.test('a slug names one id, in either case, and nothing else does', async (t) => {
  const ids = [context.id, '00000000-0000-8000-8000-000000000001', 'ffffffff-ffff-8fff-bfff-ffffffffffff']
  for (const id of ids) {
    t.equal(idOfSlug(slugOf(id)), id)
    t.equal(idOfSlug(slugOf(id).toUpperCase()), id)
  }
  for (const text of ['', '0', '-', 'é', 'z'.repeat(25), `0${slugOf(context.id)}`, `${slugOf(context.id)}!`])
    t.not(idOfSlug(text), context.id, text)
  t.equal(idOfSlug('z'.repeat(25)), undefined, 'it is more than an id can be')
})
