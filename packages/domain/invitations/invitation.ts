import { begun, existing } from '../../contract/existing.ts'
import { refuse } from '../../contract/refusals.ts'
import { literals, nullable, record, Timestamp, Type, Uuid } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { sealedFor, stored, type EventsOf } from '../../kernel/event-types.ts'
import { personal } from '../../kernel/personal.ts'

/** Domain model 5.11: nobody is invited to own a merchant. */
export const invitedRoles = ['admin', 'developer', 'analyst', 'support'] as const

const hourMs = 3_600_000
/** Domain model, section 4. */
const lastsMs = 7 * 24 * hourMs
/** Inferred: as often an hour may one address be written to by one merchant. */
const sentPerHour = 5
const linksKnown = 50

// Events

export const invitationEvents = {
  InvitationSent: sealedFor(
    (_, id) => `invitation/${id}`,
    stored(
      1,
      record({
        /** The token that is mailed names it: it is signed when it is sent and stored nowhere. */
        link: Uuid,
        email: personal(Type.String()),
        name: personal(nullable(Type.String())),
        role: literals(...invitedRoles),
        language: literals('fr', 'en'),
        /** The user who invites. */
        by: Uuid,
        expiresAt: Timestamp,
      }),
    ),
  ),
  InvitationMailed: stored(1, record({ link: Uuid })),
  InvitationAccepted: stored(
    2,
    record({ user: Uuid, role: literals(...invitedRoles), link: nullable(Uuid) }),
    { 1: (old) => ({ ...old, link: null }) },
  ),
  InvitationRevoked: stored(1, record({})),
  InvitationExpired: stored(1, record({})),
}

export type InvitationEvents = EventsOf<typeof invitationEvents>

// State

type Sent = Readonly<InvitationEvents['InvitationSent']>

interface InvitationDetails extends Sent {
  readonly merchant: string
  readonly isMailed: boolean
  readonly sentAt: string
  /** The newest ones, oldest first. */
  readonly sendings: readonly string[]
  /** Of each of them: a repeat of its request sends none again. */
  readonly links: readonly string[]
}

/** Of one address by one merchant: a newer one takes the place of the one before. */
export type Invitation =
  | { readonly status: 'none' }
  | (InvitationDetails & { readonly status: 'pending' | 'revoked' | 'expired' })
  | (InvitationDetails & { readonly status: 'accepted'; readonly user: string })

export type ExistingInvitation = Exclude<Invitation, { status: 'none' }>

// Decisions

export type InvitationCommands = {
  Invite: Omit<Sent, 'expiresAt'> & { isLimited: boolean }
  NoteInvitationMailed: { link: string }
  AcceptInvitation: { link: string; user: string }
  /** `link`: only if it has not been sent again. */
  RevokeInvitation: { link?: string }
  ExpireInvitation: object
}

export const invitation: Decider<Invitation, InvitationCommands, InvitationEvents> = {
  category: 'invitation',
  time: 'real',
  events: invitationEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    Invite({ isLimited, ...invited }, state, { now }) {
      if (state.status !== 'none') {
        if (state.links.includes(invited.link)) return []
        const waitMs = waitsOf(state.sendings, now)
        if (isLimited && waitMs > 0)
          refuse('rate_must_be_within_the_limit', { retryAfterSeconds: Math.ceil(waitMs / 1_000) })
      }
      const expiresAt = new Date(now.getTime() + lastsMs).toISOString()
      return [{ type: 'InvitationSent', data: { ...invited, expiresAt } }]
    },

    NoteInvitationMailed({ link }, state) {
      const { link: newest, isMailed } = existing(state)
      return newest === link && !isMailed ? [{ type: 'InvitationMailed', data: { link } }] : []
    },

    AcceptInvitation({ link, user }, state, { now }) {
      const known = existing(state)
      if (known.link !== link) return refuse('token_must_be_valid')
      if (known.status === 'accepted') return known.user === user ? [] : refuse('token_must_be_valid')
      if (statusOf(known, now) !== 'pending') refuse('invitation_must_be_open')
      return [{ type: 'InvitationAccepted', data: { user, role: known.role, link } }]
    },

    RevokeInvitation({ link }, state) {
      const { status, link: newest } = existing(state)
      if (link !== undefined && link !== newest) return []
      if (status !== 'pending') refuse('resource_must_exist')
      return [{ type: 'InvitationRevoked', data: {} }]
    },

    ExpireInvitation(_, state, { now }) {
      const { status, expiresAt } = existing(state)
      const isOver = status === 'pending' && now >= new Date(expiresAt)
      return isOver ? [{ type: 'InvitationExpired', data: {} }] : []
    },
  },

  evolve: {
    InvitationSent(state, sent, { merchant, at }) {
      const earlier = state.status === 'none' ? { sendings: [], links: [] } : state
      const sendings = [...earlier.sendings, at].slice(-sentPerHour)
      const links = [...earlier.links, sent.link].slice(-linksKnown)
      return { ...sent, merchant, status: 'pending', isMailed: false, sentAt: at, sendings, links }
    },
    InvitationMailed: (state) => ({ ...begun(state), isMailed: true }),
    InvitationAccepted: (state, { user }) => ({ ...begun(state), status: 'accepted', user }),
    InvitationRevoked: (state) => ({ ...begun(state), status: 'revoked' }),
    InvitationExpired: (state) => ({ ...begun(state), status: 'expired' }),
  },
}

/** Until another mail may go to the address. */
function waitsOf(sendings: readonly string[], now: Date): number {
  const first = sendings.at(-sentPerHour)
  return first === undefined ? 0 : Date.parse(first) + hourMs - now.getTime()
}

/** What it is now: the timer that ends it may be late. */
export function statusOf({ status, expiresAt }: ExistingInvitation, now: Date): ExistingInvitation['status'] {
  return status === 'pending' && now >= new Date(expiresAt) ? 'expired' : status
}

/** What the id of an invitation is derived from, in a form that does not reveal the address. */
export function invitationName(merchant: string, email: string): string {
  return JSON.stringify(['invitation', merchant, email.trim().toLowerCase()])
}
