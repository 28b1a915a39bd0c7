import {
  checkoutSession,
  type CheckoutSessionEvents,
} from '../../packages/domain/checkout/checkout-session.ts'
import { derivedId } from '../../packages/contract/identity.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { context, scenarios } from '../support/scenarios.ts'

const first = derivedId(context.id, 'payment 1')
const second = derivedId(context.id, 'payment 2')
const given = {
  customer: null,
  email: null,
  phone: null,
  amount: 5_000,
  currency: 'XOF',
  country: 'CI',
  methods: ['mobile_money' as const],
  feeMode: 'merchant_pays' as const,
  description: null,
  successUrl: null,
  cancelUrl: null,
  link: null,
  metadata: {},
}
const url = `https://pay.example/checkout/session/cs_${context.id.replaceAll('-', '')}`
type Happening = Message<CheckoutSessionEvents>
const opened: Happening = {
  type: 'CheckoutSessionOpened',
  data: { ...given, url, expiresAt: '2026-01-02T12:00:00.000Z' },
}
const attached = (paymentIntent: string, number: number, fee = 0): Happening => {
  return { type: 'CheckoutSessionIntentAttached', data: { paymentIntent, number, amount: 5_000, fee } }
}
const completed: Happening = { type: 'CheckoutSessionCompleted', data: { paymentIntent: first, link: null } }
const returned: Happening = {
  type: 'CheckoutSessionPaymentReturned',
  data: { paymentIntent: first, link: null },
}
const canceled: Happening = { type: 'CheckoutSessionCanceled', data: {} }
const expired: Happening = { type: 'CheckoutSessionExpired', data: {} }
const asked = { amount: 5_000, fee: 0 }
const tomorrow = { now: new Date('2026-01-02T12:00:00.000Z') }
const pages = 'https://pay.example/checkout/session'

scenarios(checkoutSession, {
  'a session is open for a day': {
    when: { type: 'OpenSession', data: { ...given, pages, attaches: false } },
    then: [opened],
  },
  'a session that is not deferred has its intent at once': {
    when: { type: 'OpenSession', data: { ...given, pages, attaches: true } },
    then: [opened, attached(first, 1)],
  },
  'pressing twice attaches one intent': {
    given: [opened],
    when: { type: 'AttachIntent', data: { ...asked, ended: null } },
    then: [attached(first, 1)],
  },
  'somebody who wants to pay another amount at the same time has to look again': {
    given: [opened, attached(first, 1)],
    when: { type: 'AttachIntent', data: { ...asked, fee: 100, ended: null } },
    then: 'resource_must_not_have_changed',
  },
  'when a try has ended, the next one is another intent': {
    given: [opened, attached(first, 1)],
    when: { type: 'AttachIntent', data: { ...asked, ended: first } },
    then: [attached(second, 2)],
  },
  'whoever saw an older try end does not end the newer one': {
    given: [opened, attached(first, 1), attached(second, 2)],
    when: { type: 'AttachIntent', data: { ...asked, ended: first } },
    then: [],
  },
  'a paid session cannot be paid again': {
    given: [opened, attached(first, 1), completed],
    when: { type: 'AttachIntent', data: { ...asked, ended: first } },
    then: 'checkout_session_must_be_payable',
  },
  'nobody begins to pay after the session has run out, also before its timer says so': {
    given: [opened],
    when: { type: 'AttachIntent', data: { ...asked, ended: null } },
    then: 'checkout_session_must_be_payable',
    context: tomorrow,
  },
  'a session is paid once': {
    given: [opened, attached(first, 1)],
    when: { type: 'CompleteSession', data: { paymentIntent: first } },
    then: [completed],
  },
  'money that came counts, also when the session had expired': {
    given: [opened, attached(first, 1), expired],
    when: { type: 'CompleteSession', data: { paymentIntent: first } },
    then: [completed],
  },
  'a payment that is taken back leaves a session that is completed and not paid': {
    given: [opened, attached(first, 1), completed],
    when: { type: 'ReturnPayment', data: { paymentIntent: first } },
    then: [returned],
  },
  'only what has paid a session is taken back from it': {
    given: [opened, attached(first, 1), attached(second, 2)],
    when: { type: 'ReturnPayment', data: { paymentIntent: first } },
    then: [],
  },
  'a session whose payment was taken back is not paid again': {
    given: [opened, attached(first, 1), completed, returned],
    when: { type: 'AttachIntent', data: { ...asked, ended: first } },
    then: 'checkout_session_must_be_payable',
  },
  'a session that can still be paid is not canceled': {
    given: [opened, attached(first, 1)],
    when: { type: 'CancelSession', data: { ended: null } },
    then: 'resource_must_not_have_changed',
  },
  'a session is canceled when its try has ended': {
    given: [opened, attached(first, 1)],
    when: { type: 'CancelSession', data: { ended: first } },
    then: [canceled],
  },
  'a paid session is not canceled': {
    given: [opened, attached(first, 1), completed],
    when: { type: 'CancelSession', data: { ended: first } },
    then: 'checkout_session_must_be_open',
  },
  'a session expires in time': {
    given: [opened],
    when: { type: 'ExpireSession', data: { ended: null } },
    then: [expired],
    context: tomorrow,
  },
  'a session does not expire before': {
    given: [opened],
    when: { type: 'ExpireSession', data: { ended: null } },
    then: [],
  },
  'a session does not expire while it can be paid': {
    given: [opened, attached(first, 1)],
    when: { type: 'ExpireSession', data: { ended: null } },
    then: [],
    context: tomorrow,
  },
  'what the payer tells adds to what is known': {
    given: [opened],
    when: { type: 'GivePayer', data: { customer: null, email: null, phone: null, name: 'Awa Koné' } },
    then: [
      {
        type: 'CheckoutSessionPayerGiven',
        data: { customer: null, email: null, phone: null, name: 'Awa Koné' },
      },
    ],
  },
  'nobody tells a session that has ended who he is': {
    given: [opened, canceled],
    when: { type: 'GivePayer', data: { customer: null, email: null, phone: null, name: 'Awa Koné' } },
    then: 'checkout_session_must_be_payable',
  },
})
