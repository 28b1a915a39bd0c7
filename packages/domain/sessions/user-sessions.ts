import { refuse } from '../../contract/refusals.ts'
import { literals, nullable, record, Timestamp, Type, Uuid } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { sealedFor, stored, type EventsOf } from '../../kernel/event-types.ts'
import { withMailAt } from '../../kernel/time/mail-pace.ts'
import type { UserOwner } from '../../kernel/owner.ts'
import { personal } from '../../kernel/personal.ts'

/** Where a session was used: from the request that started or renewed it. */
const SignInOrigin = {
  device: personal(nullable(Type.String())),
  address: personal(nullable(Type.String())),
  country: personal(nullable(Type.String())),
}

const EndReason = literals('signed_out', 'ended_by_user', 'password_changed', 'token_reused', 'too_many')

/** A newer version only takes more. */
const asItWas = (old: object) => old
const fromNowhere = (old: object) => ({ ...old, country: null })
/** As if it had begun before all: nobody knows which ones came first. */
const sinceFirst = (old: object) => ({ ...old, endings: 0 })
const howeverOften = (old: object) => ({ ...old, endings: null })

const aboutUser = (_: object, id: string) => `user/${id}`

// Events

export const userSessionEvents = {
  SessionStarted: sealedFor(
    aboutUser,
    stored(
      3,
      record({
        session: Uuid,
        method: literals('password', 'registration', 'magic_link', 'passkey', 'google', 'invitation'),
        merchant: nullable(Uuid),
        /** How often all sessions of the user had been ended when the user proved who it is. */
        endings: Type.Integer(),
        ...SignInOrigin,
      }),
      { 1: fromNowhere, 2: sinceFirst },
    ),
  ),
  SessionRefreshed: sealedFor(
    aboutUser,
    stored(2, record({ session: Uuid, generation: Type.Integer(), ...SignInOrigin }), { 1: fromNowhere }),
  ),
  /** It works for another merchant of the user from now on. */
  SessionMerchantSwitched: stored(1, record({ session: Uuid, merchant: Uuid })),
  /** All that worked for a merchant whose member the user is no more. */
  SessionsOfMerchantEnded: stored(1, record({ merchant: Uuid })),
  SessionEnded: stored(1, record({ session: Uuid, reason: EndReason })),
  /** All but one. */
  SessionsEnded: stored(
    3,
    record({
      /** Only those that had begun by then. Clocks differ, so newer events name none. */
      startedUntil: nullable(Timestamp),
      /** Only those that had begun when all had been ended less often. */
      endings: nullable(Type.Integer()),
      except: nullable(Uuid),
      reason: EndReason,
    }),
    { 1: asItWas, 2: howeverOften },
  ),
  /** The user has a mail that says that a spent token was shown. */
  SessionReuseTold: stored(1, record({ session: Uuid })),
}

export type UserSessionEvents = EventsOf<typeof userSessionEvents>
export type SignInOrigin = Pick<UserSessionEvents['SessionStarted'], 'device' | 'address' | 'country'>

// State

export interface Session extends SignInOrigin {
  readonly id: string
  readonly merchant: string | null
  readonly startedAt: string
  readonly endings: number
  /** How often its refresh token was replaced; only the newest is good. */
  readonly generation: number
  /** When it was last started or refreshed. */
  readonly usedAt: string
}

/** The sessions that go on, oldest first: all of one user, so that one append can end them. */
export interface UserSessions {
  readonly active: readonly Session[]
  /** Ended because a spent token was shown, which the user is not told yet. */
  readonly untold: readonly string[]
  /** When mails about such sessions were sent last, oldest first. */
  readonly toldAt: readonly string[]
}

// Decisions

/** Domain model 1.3. */
export const sessionLastsMs = 30 * 24 * 3_600_000
/** Two tabs that refresh at the same moment both get the token's successor. */
const graceMs = 10_000
const activeMax = 50

export type UserSessionCommands = {
  /** One more than there may be ends the oldest, or does not start. */
  StartSession: UserSessionEvents['SessionStarted'] & { mayEndOldest: boolean }
  /** `generation` is that of the token which was shown. */
  RefreshSession: SignInOrigin & { session: string; generation: number }
  SwitchMerchant: UserSessionEvents['SessionMerchantSwitched']
  EndSessionsOfMerchant: UserSessionEvents['SessionsOfMerchantEnded']
  EndSession: { session: string; reason: UserSessionEvents['SessionEnded']['reason'] }
  EndSessions: Omit<UserSessionEvents['SessionsEnded'], 'startedUntil'>
  /** They were told by one mail. */
  NoteReusesTold: { sessions: readonly string[] }
}

export const userSessions: Decider<UserSessions, UserSessionCommands, UserSessionEvents, UserOwner> = {
  category: 'user_session',
  owners: ['user'],
  time: 'real',
  events: userSessionEvents,
  initial: () => ({ active: [], untold: [], toldAt: [] }),
  snapshot: { version: 5, isSealed: true, every: () => 200 },

  decide: {
    StartSession({ mayEndOldest, ...started }, { active }) {
      if (active.some(({ id }) => id === started.session)) return []
      const surplus = surplusOfOneMore(active)
      if (surplus.length > 0 && !mayEndOldest) return []
      const ended = surplus.map(({ id }) => endOf(id, 'too_many'))
      return [...ended, { type: 'SessionStarted', data: started }]
    },

    RefreshSession({ session, generation, ...place }, { active }, { now }) {
      const known = active.find(({ id }) => id === session)
      if (!known || isOver(known, now)) refuse('token_must_be_valid')
      const isNewest = generation === known.generation
      if (isNewest) {
        const next = { session, generation: generation + 1, ...place }
        return [{ type: 'SessionRefreshed', data: next }]
      }
      const isSuccessorNew = now.getTime() - Date.parse(known.usedAt) <= graceMs
      if (generation === known.generation - 1 && isSuccessorNew) return []
      // Somebody has a copy of a token that was spent: nobody knows who is the owner.
      return [endOf(session, 'token_reused')]
    },

    SwitchMerchant({ session, merchant }, { active }) {
      const known = active.find(({ id }) => id === session)
      if (!known) refuse('credential_must_not_be_expired')
      const { merchant: works } = known
      return works === merchant ? [] : [{ type: 'SessionMerchantSwitched', data: { session, merchant } }]
    },

    EndSessionsOfMerchant({ merchant }, { active }) {
      const isThere = active.some(({ merchant: works }) => works === merchant)
      return isThere ? [{ type: 'SessionsOfMerchantEnded', data: { merchant } }] : []
    },

    EndSession({ session, reason }, { active }) {
      if (active.some(({ id }) => id === session)) return [endOf(session, reason)]
      return reason === 'ended_by_user' ? refuse('resource_must_exist') : []
    },

    EndSessions(command, { active }) {
      const data = { startedUntil: null, ...command }
      return active.some((session) => isAmong(data, session)) ? [{ type: 'SessionsEnded', data }] : []
    },

    NoteReusesTold: ({ sessions }, { untold }) =>
      untold
        .filter((session) => sessions.includes(session))
        .map((session) => ({ type: 'SessionReuseTold', data: { session } })),
  },

  evolve: {
    SessionStarted(state, { session: id, merchant, method: _, ...place }, { at }) {
      const started = { id, merchant, ...place, startedAt: at, generation: 0, usedAt: at }
      return { ...state, active: [...state.active, started] }
    },
    SessionRefreshed: (state, { session, ...refreshed }, { at }) => ({
      ...state,
      active: state.active.map((one) => (one.id === session ? { ...one, ...refreshed, usedAt: at } : one)),
    }),
    SessionEnded: ({ active, untold, ...state }, { session, reason }) => ({
      ...state,
      active: active.filter(({ id }) => id !== session),
      untold: reason === 'token_reused' ? [...untold, session] : untold,
    }),
    SessionsEnded: (state, all) => ({
      ...state,
      active: state.active.filter((session) => !isAmong(all, session)),
    }),
    SessionReuseTold: (state, { session }, { at }) => ({
      ...state,
      untold: state.untold.filter((one) => one !== session),
      toldAt: withMailAt(state.toldAt, at),
    }),
    SessionMerchantSwitched: (state, { session, merchant }) => ({
      ...state,
      active: state.active.map((one) => (one.id === session ? { ...one, merchant } : one)),
    }),
    SessionsOfMerchantEnded: (state, { merchant }) => ({
      ...state,
      active: state.active.filter(({ merchant: works }) => works !== merchant),
    }),
  },
}

/** One more would end the oldest. */
export function isFull({ active }: UserSessions): boolean {
  return surplusOfOneMore(active).length > 0
}

function surplusOfOneMore(active: readonly Session[]): readonly Session[] {
  return active.slice(0, Math.max(0, active.length + 1 - activeMax))
}

function endOf(session: string, reason: UserSessionEvents['SessionEnded']['reason']) {
  return { type: 'SessionEnded' as const, data: { session, reason } }
}

function isAmong(
  { startedUntil, endings, except }: UserSessionEvents['SessionsEnded'],
  session: Session,
): boolean {
  if (session.id === except) return false
  const hadBegun = startedUntil === null || session.startedAt <= startedUntil
  return hadBegun && (endings === null || session.endings < endings)
}

export function expiryOf({ usedAt }: Session): Date {
  return new Date(Date.parse(usedAt) + sessionLastsMs)
}

export function isOver(session: Session, now: Date): boolean {
  return now >= expiryOf(session)
}
