import { begun } from '../../contract/existing.ts'
import { derivedId, publicId } from '../../contract/identity.ts'
import { feeModes, MethodTypes } from '../../contract/payments/payment-methods.ts'
import { refuse } from '../../contract/refusals.ts'
import {
  AmountMinor,
  CountMinor,
  Country,
  Currency,
  literals,
  nullable,
  record,
  Timestamp,
  Type,
  Uuid,
} from '../../contract/vocabulary.ts'
import type { Decider, Message } from '../../kernel/decider.ts'
import { sealedFor, stored, type EventsOf } from '../../kernel/event-types.ts'
import type { MerchantOwner } from '../../kernel/owner.ts'
import { personal } from '../../kernel/personal.ts'

/** Inferred: JSON of whatever shape, if it is small enough. */
export const AnyMetadata = Type.Unsafe<Readonly<Record<string, unknown>>>({
  type: 'object',
  maxProperties: 50,
  propertyNames: { type: 'string', minLength: 1, maxLength: 64 },
  additionalProperties: true,
  description: 'Your own data, shown to you as you sent it; the payer does not see it',
})

const contact = {
  customer: nullable(Uuid),
  email: personal(nullable(Type.String())),
  phone: personal(nullable(Type.String())),
}

// Events

export const checkoutSessionEvents = {
  CheckoutSessionOpened: sealedFor(
    payerOf,
    stored(
      1,
      record({
        ...contact,
        url: Type.String(),
        /** Null: the payer chooses it. */
        amount: nullable(AmountMinor),
        currency: Currency,
        country: Country,
        methods: MethodTypes,
        feeMode: literals(...feeModes),
        description: personal(nullable(Type.String())),
        successUrl: nullable(Type.String()),
        cancelUrl: nullable(Type.String()),
        link: nullable(Uuid),
        metadata: personal(AnyMetadata),
        expiresAt: Timestamp,
      }),
    ),
  ),
  /** `fee` is what the payer pays on top of the amount. Only one attempt at a time can be paid. */
  CheckoutSessionIntentAttached: stored(
    1,
    record({
      paymentIntent: Uuid,
      number: Type.Integer({ minimum: 1 }),
      amount: AmountMinor,
      fee: CountMinor,
    }),
  ),
  /** Inferred: what the payer has said about himself while paying. */
  CheckoutSessionPayerGiven: sealedFor(
    payerOf,
    stored(1, record({ ...contact, name: personal(nullable(Type.String())) })),
  ),
  CheckoutSessionCompleted: stored(1, record({ paymentIntent: Uuid, link: nullable(Uuid) })),
  /** The operator has taken back what completed it: the session stays completed, and is not paid. */
  CheckoutSessionPaymentReturned: stored(1, record({ paymentIntent: Uuid, link: nullable(Uuid) })),
  CheckoutSessionCanceled: stored(1, record({})),
  CheckoutSessionExpired: stored(1, record({})),
}

/** Whom they are about: also a description and metadata may name somebody. */
function payerOf({ customer }: { readonly customer: string | null }, id: string): string {
  return customer === null ? `checkout_session/${id}` : `customer/${customer}`
}

export type CheckoutSessionEvents = EventsOf<typeof checkoutSessionEvents>

// State

type Opened = CheckoutSessionEvents['CheckoutSessionOpened']
type Payer = CheckoutSessionEvents['CheckoutSessionPayerGiven']
export type Attempt = CheckoutSessionEvents['CheckoutSessionIntentAttached']

export interface ExistingSession extends Omit<Opened, keyof Payer>, MerchantOwner {
  readonly createdAt: string
  readonly status: 'open' | 'completed' | 'canceled' | 'expired'
  readonly payer: Payer
  /** The newest one; all earlier ones had failed or were canceled when it was attached. */
  readonly attempt: Attempt | null
  /** The intent that was paid, as long as its money is here. */
  readonly paidBy: string | null
}

export type CheckoutSession = { readonly status: 'none' } | ExistingSession

// Decisions

/** What a try to pay is about. */
interface Asked {
  readonly amount: number
  readonly fee: number
}

/** `ended` is the newest attempt's intent, where the sender has seen that it can no longer be paid. */
interface Seeing {
  readonly ended: string | null
}

export type CheckoutSessionCommands = {
  /** `pages` is the URL below which sessions are; `attaches`: the intent is made with the session. */
  OpenSession: Omit<Opened, 'url' | 'expiresAt'> & { pages: string; attaches: boolean }
  AttachIntent: Asked & Seeing
  GivePayer: Payer
  CompleteSession: { paymentIntent: string }
  ReturnPayment: { paymentIntent: string }
  CancelSession: Seeing
  ExpireSession: Seeing
}

/** Domain model 4. */
const openMs = 24 * 3_600_000

export const checkoutSession: Decider<CheckoutSession, CheckoutSessionCommands, CheckoutSessionEvents> = {
  category: 'checkout_session',
  perOperation: true,
  events: checkoutSessionEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    OpenSession({ pages, attaches, ...given }, { status }, { id, now }) {
      if (status !== 'none') return []
      const expiresAt = new Date(now.getTime() + openMs).toISOString()
      const data = { ...given, url: `${pages}/${publicId('cs', id)}`, expiresAt }
      const opened = { type: 'CheckoutSessionOpened', data } as const
      if (!attaches || given.amount === null) return [opened]
      return [opened, attached(id, 1, { amount: given.amount, fee: 0 })]
    },

    AttachIntent({ ended, ...asked }, state, { id, now }) {
      const { attempt } = payable(state, now)
      if (attempt && attempt.paymentIntent !== ended) {
        if (attempt.amount === asked.amount && attempt.fee === asked.fee) return []
        refuse('resource_must_not_have_changed')
      }
      return [attached(id, (attempt?.number ?? 0) + 1, asked)]
    },

    GivePayer(given, state, { now }) {
      const { payer } = payable(state, now)
      const told = {
        customer: given.customer ?? payer.customer,
        email: given.email ?? payer.email,
        phone: given.phone ?? payer.phone,
        name: given.name ?? payer.name,
      }
      const isKnown = JSON.stringify(told) === JSON.stringify(payer)
      return isKnown ? [] : [{ type: 'CheckoutSessionPayerGiven', data: told }]
    },

    // The money is there, whatever has become of the session meanwhile.
    CompleteSession({ paymentIntent }, state) {
      const { status, link } = begun(state)
      if (status === 'completed') return []
      return [{ type: 'CheckoutSessionCompleted', data: { paymentIntent, link } }]
    },

    ReturnPayment({ paymentIntent }, state) {
      const { paidBy, link } = begun(state)
      if (paidBy !== paymentIntent) return []
      return [{ type: 'CheckoutSessionPaymentReturned', data: { paymentIntent, link } }]
    },

    CancelSession({ ended }, state) {
      const session = existing(state)
      if (session.status === 'canceled') return []
      if (session.status !== 'open') refuse('checkout_session_must_be_open', { detail: why[session.status] })
      if (isPayable(session, ended)) refuse('resource_must_not_have_changed')
      return [{ type: 'CheckoutSessionCanceled', data: {} }]
    },

    ExpireSession({ ended }, state, { now }) {
      const session = existing(state)
      const isOver = Date.parse(session.expiresAt) <= now.getTime()
      if (session.status !== 'open' || !isOver || isPayable(session, ended)) return []
      return [{ type: 'CheckoutSessionExpired', data: {} }]
    },
  },

  evolve: {
    CheckoutSessionOpened: (_, { customer, email, phone, ...session }, { merchant, livemode, at }) => {
      const payer = { customer, email, phone, name: null }
      const nothingYet = { attempt: null, paidBy: null, status: 'open' } as const
      return { ...session, payer, ...nothingYet, merchant, livemode, createdAt: at }
    },
    CheckoutSessionIntentAttached: (state, attempt) => ({ ...begun(state), attempt }),
    CheckoutSessionPayerGiven: (state, payer) => ({ ...begun(state), payer }),
    CheckoutSessionCompleted: (state, { paymentIntent: paidBy }) => {
      return { ...begun(state), status: 'completed', paidBy }
    },
    CheckoutSessionPaymentReturned: (state) => ({ ...begun(state), paidBy: null }),
    CheckoutSessionCanceled: (state) => ({ ...begun(state), status: 'canceled' }),
    CheckoutSessionExpired: (state) => ({ ...begun(state), status: 'expired' }),
  },
}

const why = {
  open: 'The session has expired',
  completed: 'The session is paid',
  canceled: 'The session was canceled',
  expired: 'The session has expired',
} as const

/** Each attempt's intent follows from the session, so that pressing twice makes one. */
function attached(session: string, number: number, asked: Asked): Message<CheckoutSessionEvents> {
  const paymentIntent = derivedId(session, `payment ${number}`)
  return { type: 'CheckoutSessionIntentAttached', data: { paymentIntent, number, ...asked } }
}

function isPayable({ attempt }: ExistingSession, ended: string | null): boolean {
  return attempt !== null && attempt.paymentIntent !== ended
}

/** Time may have ended it a moment before its timer does. */
function payable(state: CheckoutSession, now: Date): ExistingSession {
  const session = existing(state)
  const isOver = Date.parse(session.expiresAt) <= now.getTime()
  if (session.status !== 'open' || isOver)
    refuse('checkout_session_must_be_payable', { detail: why[session.status] })
  return session
}

function existing(state: CheckoutSession): ExistingSession {
  return state.status === 'none' ? refuse('checkout_session_must_exist') : state
}
