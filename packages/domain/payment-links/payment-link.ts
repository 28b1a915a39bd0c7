import { begun, existing } from '../../contract/existing.ts'
import { feeModes, MethodTypes } from '../../contract/payments/payment-methods.ts'
import { refuse } from '../../contract/refusals.ts'
import {
  AmountMinor,
  Country,
  Currency,
  literals,
  nullable,
  record,
  Timestamp,
  Type,
  Uuid,
} from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'

/** What every payer of the link is offered. */
const terms = {
  /** Null: the payer chooses it. */
  amount: nullable(AmountMinor),
  currency: Currency,
  country: Country,
  feeMode: literals(...feeModes),
  description: nullable(Type.String()),
  methods: MethodTypes,
  expiresAt: nullable(Timestamp),
  isSingleUse: Type.Boolean(),
}

// Events

export const paymentLinkEvents = {
  PaymentLinkCreated: stored(1, record({ ...terms, url: Type.String() })),
  /** Of a link for one payment: only this session may pay, with this intent. */
  PaymentLinkReserved: stored(1, record({ session: Uuid, paymentIntent: Uuid })),
  /** `cause` is the position of the event that it follows from; a link for one payment is used up by it. */
  PaymentLinkUsed: stored(
    1,
    record({ session: Uuid, cause: Type.Integer({ minimum: 0 }), isUsedUp: Type.Boolean() }),
  ),
  /** The operator has taken the money back. `expiresAt` is that of a link that can be paid again by this. */
  PaymentLinkUseReturned: stored(
    1,
    record({
      session: Uuid,
      cause: Type.Integer({ minimum: 0 }),
      expiresAt: nullable(Timestamp),
    }),
  ),
  PaymentLinkDeactivated: stored(1, record({})),
  PaymentLinkExpired: stored(1, record({})),
}

export type PaymentLinkEvents = EventsOf<typeof paymentLinkEvents>

// State

type Terms = PaymentLinkEvents['PaymentLinkCreated']

export interface ExistingLink extends Terms {
  readonly livemode: boolean
  readonly createdAt: string
  readonly status: 'active' | 'inactive' | 'expired' | 'completed'
  /** What it is when a payment that has used it up is taken back; null: it can be paid again. */
  readonly closed: 'inactive' | 'expired' | null
  readonly uses: number
  /** Position of the newest cause of a use or its return, which are told in the order of their causes. */
  readonly lastCause: number
  readonly reserved: PaymentLinkEvents['PaymentLinkReserved'] | null
}

export type PaymentLink = { readonly status: 'none' } | ExistingLink

// Decisions

export type PaymentLinkCommands = {
  /** `pages` is the URL below which links are. */
  CreateLink: Omit<Terms, 'url'> & { pages: string }
  /** `instead` is the intent that has it and can no longer be paid. */
  ReserveLink: { session: string; paymentIntent: string; instead: string | null }
  UseLink: { session: string }
  ReturnUse: { session: string }
  DeactivateLink: object
  ExpireLink: object
}

export const paymentLink: Decider<PaymentLink, PaymentLinkCommands, PaymentLinkEvents> = {
  category: 'payment_link',
  events: paymentLinkEvents,
  initial: () => ({ status: 'none' }),
  // A link on a poster is used for years.
  snapshot: { version: 2, every: () => 256 },

  decide: {
    CreateLink({ pages, ...given }, { status }, { id }) {
      if (status !== 'none') return []
      return [{ type: 'PaymentLinkCreated', data: { ...given, url: `${pages}/${slugOf(id)}` } }]
    },

    // Sessions that are open may finish after the link has been closed: only another payment stands in their
    // way.
    ReserveLink({ session, paymentIntent, instead }, state) {
      const { isSingleUse, status, reserved } = existing(state)
      if (!isSingleUse) return []
      if (status === 'completed') refuse('checkout_session_must_be_payable', { detail: 'The link was paid' })
      if (reserved?.paymentIntent === paymentIntent) return []
      // A late try of an earlier payment of the same session may not take it from the newest one, either.
      const isFree = !reserved || reserved.paymentIntent === instead
      if (!isFree) refuse('payment_link_must_not_be_in_use', { retryAfterSeconds: 5 })
      return [{ type: 'PaymentLinkReserved', data: { session, paymentIntent } }]
    },

    UseLink({ session }, state, { cause }) {
      const link = begun(state)
      if (!cause) throw new Error('links are used by a policy')
      if (cause.position <= link.lastCause) return []
      return [
        { type: 'PaymentLinkUsed', data: { session, cause: cause.position, isUsedUp: link.isSingleUse } },
      ]
    },

    ReturnUse({ session }, state, { cause }) {
      const { lastCause, status, closed, expiresAt: end } = begun(state)
      if (!cause) throw new Error('uses are returned by a policy')
      if (cause.position <= lastCause) return []
      const expiresAt = status === 'completed' && closed === null ? end : null
      return [{ type: 'PaymentLinkUseReturned', data: { session, cause: cause.position, expiresAt } }]
    },

    // One that was paid may be closed, too: the money may be taken back.
    DeactivateLink(_, state) {
      return existing(state).closed === null ? [{ type: 'PaymentLinkDeactivated', data: {} }] : []
    },

    ExpireLink(_, state, { now }) {
      const { status, expiresAt } = existing(state)
      const isOver = expiresAt !== null && Date.parse(expiresAt) <= now.getTime()
      return status === 'active' && isOver ? [{ type: 'PaymentLinkExpired', data: {} }] : []
    },
  },

  evolve: {
    PaymentLinkCreated: (_, link, { livemode, at }) => {
      const nothingYet = { closed: null, uses: 0, lastCause: 0, reserved: null }
      return { ...link, ...nothingYet, livemode, createdAt: at, status: 'active' }
    },
    PaymentLinkReserved: (state, reserved) => ({ ...begun(state), reserved }),
    PaymentLinkUsed: (state, { cause, isUsedUp }) => {
      const link = begun(state)
      const used = { uses: link.uses + 1, lastCause: cause }
      return { ...link, ...used, status: isUsedUp ? 'completed' : link.status }
    },
    PaymentLinkUseReturned: (state, { cause }) => {
      const link = begun(state)
      const status = link.status === 'completed' ? (link.closed ?? 'active') : link.status
      return { ...link, uses: link.uses - 1, lastCause: cause, status }
    },
    PaymentLinkDeactivated: (state) => closedAs(begun(state), 'inactive'),
    PaymentLinkExpired: (state) => closedAs(begun(state), 'expired'),
  },
}

/** What was paid stays paid. */
function closedAs(link: ExistingLink, closed: 'inactive' | 'expired'): ExistingLink {
  return { ...link, closed, status: link.status === 'completed' ? 'completed' : closed }
}

/** Whether it takes new payers. Time may have ended it a moment before its timer does. */
export function isOpen({ status, expiresAt }: ExistingLink, now: Date): boolean {
  return status === 'active' && (expiresAt === null || Date.parse(expiresAt) > now.getTime())
}

// The slug is the id, written shorter: a link is found without a read model.

const radix = 36

export function slugOf(id: string): string {
  return BigInt(`0x${id.replaceAll('-', '')}`).toString(radix)
}

/** `undefined` for a text that is no slug. Letters may be in either case, as people type them. */
export function idOfSlug(text: string): string | undefined {
  const slug = text.toLowerCase()
  if (!/^[0-9a-z]{1,25}$/.test(slug)) return undefined
  const value = [...slug].reduce((sum, digit) => sum * BigInt(radix) + BigInt(parseInt(digit, radix)), 0n)
  const hex = value.toString(16).padStart(32, '0')
  const id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join(
    '-',
  )
  return slugOf(id) === slug && hex.length === 32 ? id : undefined
}
