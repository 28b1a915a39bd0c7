import { refuse } from '../../contract/refusals.ts'
import { literals, nullable, record, Timestamp, Type, Uuid } from '../../contract/vocabulary.ts'
import { sealedFor, stored, type EventsOf } from '../../kernel/event-types.ts'
import { personal } from '../../kernel/personal.ts'
import { Held, heldOf, holding, refuseAbandoned, type Holding } from './held.ts'
import { aboutUser, withRequest, type Changes, type Decisions, type Requests } from './parts.ts'

const changeLastsMs = 24 * 3_600_000

// Events

export const contactEvents = {
  UserPersonalInfoRevised: sealedFor(
    aboutUser,
    stored(
      1,
      record({
        name: personal(Type.String()),
        secondaryEmail: personal(nullable(Type.String())),
        language: literals('fr', 'en'),
      }),
    ),
  ),
  /** A link goes to the new address; its id is that of the request. */
  UserEmailChangeRequested: sealedFor(
    aboutUser,
    stored(1, record({ link: Uuid, email: personal(Type.String()), expiresAt: Timestamp })),
  ),
  UserEmailChangeMailed: stored(1, record({ link: Uuid })),
  UserEmailChangeCanceled: stored(1, record({ link: Uuid })),
  UserEmailChanged: sealedFor(
    aboutUser,
    stored(
      1,
      record({
        /** Which request it was, where a mailed link proved the address. */
        link: nullable(Uuid),
        email: personal(Type.String()),
        /** Is told of it. */
        previous: personal(Type.String()),
        isVerified: Type.Boolean(),
        held: Type.Array(Held),
        freed: Type.Array(Held),
      }),
    ),
  ),
  /** The same address, whose claim was lost in an earlier version, and is the user's again. */
  UserEmailHeldAnew: stored(1, record({ held: Type.Array(Held) })),
  /** Each that was left by then. */
  UserPreviousEmailTold: stored(1, record({})),
}

export type ContactEvents = EventsOf<typeof contactEvents>

// State

export interface Contacts extends Holding, Requests {
  readonly name: string
  /** Another one than whose account it is now may have chosen it. */
  readonly isNameDoubtful: boolean
  readonly email: string
  readonly emailVerified: boolean
  readonly secondaryEmail: string | null
  readonly language: 'fr' | 'en'
  /** To another address; `ended` tells what became of the newest. */
  readonly emailChange:
    | (ContactEvents['UserEmailChangeRequested'] & {
        readonly status: 'pending' | 'completed' | 'canceled'
        readonly isMailed: boolean
        readonly requestedAt: string
      })
    | null
  /** Addresses that have to be told that they are no longer the user's, oldest first. */
  readonly untold: readonly string[]
  /** When mailboxes ceased to be this user's, oldest first. */
  readonly leftAt: readonly string[]
}

export const noChanges = {
  isNameDoubtful: false,
  secondaryEmail: null,
  emailChange: null,
  untold: [],
  leftAt: [],
}

/** Inferred: a link that undoes something is good for a week, and nobody moves more often. */
const leavingsKept = 20

// Decisions, of a user who exists

export type ContactCommands = {
  RevisePersonalInfo: Partial<ContactEvents['UserPersonalInfoRevised']>
  RequestEmailChange: { link: string; email: string }
  NoteEmailChangeMailed: { link: string }
  CancelEmailChange: { link?: string }
  /**
   * `held`: the claim of the new address, `replaces`: that of the old one, `from`. `link`: the mailed one;
   * without it a challenge stands for it.
   */
  ChangeEmail: { email: string; held: readonly Held[]; replaces: string; from: string; link?: string }
  /** Decides nothing where another one was left meanwhile. */
  NotePreviousEmailTold: { addresses: readonly string[] }
}

export const decideContacts: Decisions<Contacts, ContactCommands, ContactEvents> = {
  RevisePersonalInfo(given, { name, secondaryEmail, language }) {
    const current = { name, secondaryEmail, language }
    const next = { ...current, ...given }
    return JSON.stringify(next) === JSON.stringify(current)
      ? []
      : [{ type: 'UserPersonalInfoRevised', data: next }]
  },

  RequestEmailChange({ link, email }, { requested }, { now }) {
    if (requested.includes(link)) return []
    const expiresAt = new Date(now.getTime() + changeLastsMs).toISOString()
    return [{ type: 'UserEmailChangeRequested', data: { link, email, expiresAt } }]
  },

  NoteEmailChangeMailed: ({ link }, { emailChange }) =>
    emailChange?.link === link && !emailChange.isMailed
      ? [{ type: 'UserEmailChangeMailed', data: { link } }]
      : [],

  CancelEmailChange({ link }, { emailChange }) {
    if (!emailChange || (link !== undefined && link !== emailChange.link))
      return refuse('resource_must_exist')
    if (emailChange.status === 'canceled') return []
    if (emailChange.status !== 'pending') refuse('contact_change_must_be_pending')
    return [{ type: 'UserEmailChangeCanceled', data: { link: emailChange.link } }]
  },

  ChangeEmail({ email, held, replaces, from, link }, state, { now }) {
    const { emailChange } = state
    const isRequested = emailChange?.link === link && emailChange?.status === 'pending'
    const isLate = emailChange !== null && now >= new Date(emailChange.expiresAt)
    if (link !== undefined && (!isRequested || isLate)) refuse('token_must_be_valid')
    refuseAbandoned(held, state)
    if (email === state.email) return isHeld(held, state) ? [] : [heldAnew(held)]
    if (from !== state.email) refuse('resource_must_not_have_changed')
    // Another spelling of the same address is the same claim, and the same mailbox.
    const isKept = held.some(({ claim }) => claim === replaces)
    const freed = isKept ? [] : heldOf(state, replaces)
    const isVerified = link !== undefined || (isKept && state.emailVerified)
    const data = { link: link ?? null, email, previous: state.email, isVerified, held: [...held], freed }
    const canceled = link === undefined ? cancellationOf(state) : []
    return [...canceled, { type: 'UserEmailChanged', data }]
  },

  NotePreviousEmailTold({ addresses }, { untold }) {
    const isEach = untold.length > 0 && untold.every((address, index) => address === addresses[index])
    return isEach ? [{ type: 'UserPreviousEmailTold', data: {} }] : []
  },
}

function isHeld(held: readonly Held[], known: Holding): boolean {
  return held.every(({ claim, hold }) => heldOf(known, claim).some((one) => one.hold === hold))
}

/** Else the hold that makes the address the user's is one that nobody frees when it is left. */
function heldAnew(held: readonly Held[]) {
  return { type: 'UserEmailHeldAnew' as const, data: { held: [...held] } }
}

/** Of the change that waits for its link, which may be in the hands of whoever had a session before. */
export function cancellationOf({ emailChange }: Pick<Contacts, 'emailChange'>) {
  if (emailChange?.status !== 'pending') return []
  return [{ type: 'UserEmailChangeCanceled' as const, data: { link: emailChange.link } }]
}

export const contactChanges: Changes<Contacts & { readonly links: object }, ContactEvents> = {
  UserPersonalInfoRevised: (_, info) => ({ ...info, isNameDoubtful: false }),
  UserEmailChangeRequested: (state, asked, { at }) => ({
    emailChange: { ...asked, status: 'pending', isMailed: false, requestedAt: at },
    ...withRequest(state, asked.link),
  }),
  UserEmailChangeMailed: ({ emailChange }) => ({ emailChange: { ...emailChange!, isMailed: true } }),
  UserEmailChangeCanceled: ({ emailChange }) => ({ emailChange: { ...emailChange!, status: 'canceled' } }),
  UserEmailChanged(known, { email, previous, isVerified, held, freed, link }, { at }) {
    const { emailChange, leftAt, untold } = known
    const isDone = emailChange?.status === 'pending' && emailChange.link === link
    const isLeft = !held.some(({ claim }) => heldOf(known, claim).length > 0)
    return {
      email,
      ...holding(known, { freed, added: held }),
      emailVerified: isVerified,
      untold: [...untold, previous],
      leftAt: isLeft ? [...leftAt, at].slice(-leavingsKept) : leftAt,
      // Links that were mailed to the old address prove nothing about the new one.
      links: {},
      emailChange: emailChange && { ...emailChange, ...(isDone && { status: 'completed' }) },
    }
  },
  UserEmailHeldAnew: (state, { held }) => holding(state, { added: held }),
  UserPreviousEmailTold: () => ({ untold: [] }),
}
