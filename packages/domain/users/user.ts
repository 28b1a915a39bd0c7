import { refuse } from '../../contract/refusals.ts'
import type { Context, Decider, Payloads, Stamp } from '../../kernel/decider.ts'
import type { UserOwner } from '../../kernel/owner.ts'
import { cancellationOf, contactChanges, decideContacts, noChanges } from './contacts.ts'
import type { ContactCommands, ContactEvents, Contacts } from './contacts.ts'
import { userEvents, type UserEvents } from './events.ts'
import { endingSessions, fromOngoing, noEndedSessions, type EndedSessions } from './ended-sessions.ts'
import { decideFactors, factorChanges, noFactors } from './factors.ts'
import type { FactorCommands, FactorEvents, Factors } from './factors.ts'
import { decideGoogle, googleChanges, noGoogle } from './google.ts'
import type { Google, GoogleCommands, GoogleEvents } from './google.ts'
import { refuseAbandoned } from './held.ts'
import { afterLeaving, type LeftUser } from './leaving.ts'
import { newLink, noLinks, useLink, withLink, withNewLink, type Links } from './links.ts'
import { decideNotices, noNotices, noticeChanges, noticed } from './notices.ts'
import type { NoticeCommands, NoticeEvents, Notices } from './notices.ts'
import { noGuide, progressOnboarding, type Guide, type OnboardingCommands } from './onboarding.ts'
import { eachStep, type Changes, type Decisions, type Evolutions } from './parts.ts'
import { decidePasskeys, noPasskeys, passkeyChanges } from './passkeys.ts'
import type { PasskeyCommands, PasskeyEvents, Passkeys } from './passkeys.ts'
import { decidePhones, noPhoneChange, phoneChanges } from './phones.ts'
import type { PhoneCommands, PhoneEvents, Phones } from './phones.ts'
import { provenFirst, takenOver } from './taking-over.ts'

// State

type Registered = Pick<UserEvents['UserRegistered'], 'password' | 'merchant'>

export interface ActiveUser
  extends Registered, Factors, Contacts, Passkeys, Google, Phones, Notices, Links, EndedSessions {
  readonly status: 'active'
  readonly guide: Guide
  readonly createdAt: string
  /** What was proved with the password before is worth nothing. */
  readonly passwordChanges: number
}

export type User = { readonly status: 'none'; readonly abandoned: readonly string[] } | LeftUser | ActiveUser

// Decisions

export type UserCommands = FactorCommands &
  ContactCommands &
  PasskeyCommands &
  GoogleCommands &
  PhoneCommands &
  NoticeCommands &
  OnboardingCommands & {
    /** `verified`: what was proved by codes before. */
    RegisterUser: UserEvents['UserRegistered'] & { verified?: readonly ('email' | 'phone')[] }
    /** After it, whoever still has this hold is refused. */
    AbandonUserHold: { hold: string }
    /** `ifLacking`: nothing is refused where the address has been verified meanwhile. */
    RequestEmailVerification: { link: string; ifLacking?: true }
    /** `reset`: the link to mail where no session showed who has set up what opens the account. */
    VerifyEmail: { link: string; reset: string | null }
    /** A link that somebody else had mailed has proved the address. */
    ConfirmEmail: object
    /** By whoever has the mailbox, from somebody who never showed to have it. */
    TakeOver: { password: string }
    RequestPasswordReset: { link: string }
    RequestMagicLink: { link: string }
    UseMagicLink: { link: string }
    /**
     * `link`: the one that was mailed. Without it the caller has proved otherwise that it may. `from`: how
     * often the password had changed by then.
     */
    ChangePassword: { password: string; session: string | null; link?: string; from?: number }
    NoteLinkMailed: UserEvents['UserLinkMailed']
    LeaveUser: object
    ChooseDefaultMerchant: UserEvents['UserDefaultMerchantChosen']
  }

export const user: Decider<User, UserCommands, UserEvents, UserOwner> = {
  category: 'user',
  owners: ['user'],
  time: 'real',
  events: userEvents,
  initial: () => ({ status: 'none', abandoned: [] }),
  snapshot: { version: 10, isSealed: true, every: () => 200 },

  decide: fromOngoing<User, UserCommands, UserEvents>({
    RegisterUser({ verified = [], ...registered }, { status, abandoned }) {
      if (status !== 'none') return []
      refuseAbandoned(registered.held, { abandoned })
      return [
        { type: 'UserRegistered', data: registered },
        ...(verified.includes('email') ? [{ type: 'UserEmailVerified' as const, data: {} }] : []),
        ...(verified.includes('phone') ? [{ type: 'UserPhoneVerified' as const, data: {} }] : []),
      ]
    },

    AbandonUserHold({ hold }, state) {
      const isTaken = state.status === 'active' && state.held.some((one) => one.hold === hold)
      if (isTaken || state.abandoned.includes(hold)) return []
      return [{ type: 'UserHoldAbandoned', data: { hold } }]
    },

    RequestEmailVerification({ link, ifLacking }, state, context) {
      const { emailVerified, requested } = existing(state)
      if (requested.includes(link) || (emailVerified && ifLacking)) return []
      if (emailVerified) refuse('email_must_not_be_verified_yet')
      return [{ type: 'UserEmailVerificationRequested', data: newLink('verify_email', link, context) }]
    },

    VerifyEmail({ link, reset }, state, context) {
      const known = existing(state)
      useLink(known, 'verify_email', { link, context })
      return reset === null ? [{ type: 'UserEmailVerified', data: {} }] : takenOver(known, reset, context)
    },

    TakeOver({ password }, state) {
      const known = existing(state)
      const changed = passwordChanged(known, { password, session: null })
      return known.emailVerified ? [] : [...provenFirst(known), ...changed]
    },

    ConfirmEmail: (_, state) =>
      existing(state).emailVerified ? [] : [{ type: 'UserEmailVerified', data: {} }],

    RequestPasswordReset({ link }, state, context) {
      // What was asked for before, and is carried out only now, comes to nothing.
      if (state.status === 'left') return []
      if (existing(state).requested.includes(link)) return []
      return [{ type: 'UserPasswordResetRequested', data: newLink('reset_password', link, context) }]
    },

    RequestMagicLink({ link }, state, context) {
      if (state.status === 'left') return []
      const { requested, emailVerified } = existing(state)
      if (requested.includes(link)) return []
      // Whoever registered it may be another one than who has the mailbox, and knows the password.
      if (!emailVerified) return user.decide.RequestPasswordReset({ link }, state, context)
      return [{ type: 'UserMagicLinkRequested', data: newLink('magic_link', link, context) }]
    },

    UseMagicLink({ link }, state, context) {
      useLink(existing(state), 'magic_link', { link, context })
      return [{ type: 'UserMagicLinkUsed', data: { link } }]
    },

    ChangePassword({ password, session, link, from }, state, context) {
      const known = existing(state)
      if (from !== undefined && from !== known.passwordChanges) refuse('resource_must_not_have_changed')
      const changed = passwordChanged(known, { password, session })
      if (link === undefined) return changed
      useLink(known, 'reset_password', { link, context })
      return known.emailVerified ? changed : [...provenFirst(known), ...changed]
    },

    NoteLinkMailed(mailed, state) {
      if (state.status === 'left') return []
      const newest = existing(state).links[mailed.purpose]
      if (newest?.id !== mailed.link || newest.isMailed) return []
      return [{ type: 'UserLinkMailed', data: mailed }]
    },

    ChooseDefaultMerchant({ merchant }, state) {
      const { merchant: usual } = existing(state)
      return usual === merchant ? [] : [{ type: 'UserDefaultMerchantChosen', data: { merchant } }]
    },

    LeaveUser(_, state) {
      if (state.status === 'left') return []
      existing(state)
      return [{ type: 'UserLeft', data: {} }]
    },

    ProgressOnboarding: (given, state) => progressOnboarding(given, existing(state)),
    ...ofExisting<ContactCommands, ContactEvents>(decideContacts),
    ...ofExisting<FactorCommands, FactorEvents>(decideFactors),
    ...ofExisting<PhoneCommands, PhoneEvents>(decidePhones),
    ...ofExisting<PasskeyCommands, PasskeyEvents>(decidePasskeys),
    ...ofExisting<GoogleCommands, GoogleEvents>(decideGoogle),
    ...ofExisting<NoticeCommands, UserEvents>(decideNotices),
  }),

  evolve: noticing({
    UserRegistered: (state, { founded, ...registered }, { at }) => ({
      ...registered,
      status: 'active',
      emailVerified: false,
      ...noLinks,
      ...noFactors,
      ...noChanges,
      ...noPasskeys,
      ...noGoogle,
      ...noPhoneChange,
      ...noNotices,
      ...noEndedSessions,
      passwordChanges: 0,
      guide: noGuide,
      abandoned: state.abandoned,
      createdAt: at,
    }),
    UserHoldAbandoned: (state, { hold }) => ({ ...state, abandoned: [...state.abandoned, hold] }),
    UserEmailVerificationRequested: (state, link) => withNewLink(begun(state), 'verify_email', link),
    UserEmailVerified: (state) => ({
      ...withLink(begun(state), 'verify_email', undefined),
      emailVerified: true,
    }),
    UserPasswordResetRequested: (state, link) => withNewLink(begun(state), 'reset_password', link),
    // Who can change the password needs no link that was mailed for it before.
    UserPasswordChanged: (state, { password, session }) => ({
      ...withLink(withAnotherPassword(state, session), 'reset_password', undefined),
      password,
    }),
    UserPasswordRemoved: (state) => ({
      ...withAnotherPassword(state),
      password: null,
      isNameDoubtful: true,
    }),
    UserTakenOver: (state) => withAnotherPassword(state),
    UserLinkMailed: (state, { purpose }) =>
      withLink(begun(state), purpose, { ...begun(state).links[purpose]!, isMailed: true }),
    UserDefaultMerchantChosen: (state, { merchant }) => ({ ...begun(state), merchant }),
    UserOnboardingProgressed: (state, guide) => ({ ...begun(state), guide }),
    UserMagicLinkRequested: (state, link) => withNewLink(begun(state), 'magic_link', link),
    // Whoever opens it has the mailbox.
    UserMagicLinkUsed: (state) => ({
      ...withLink(begun(state), 'magic_link', undefined),
      emailVerified: true,
    }),
    UserLeft: (state) => afterLeaving(begun(state)),
    ...changing<ContactEvents>(contactChanges),
    ...changing<FactorEvents>(factorChanges),
    ...changing<PhoneEvents>(phoneChanges),
    ...changing<PasskeyEvents>(passkeyChanges),
    ...changing<GoogleEvents>(googleChanges),
    ...changing<NoticeEvents>(noticeChanges),
  }),
}

export function existing(state: User): ActiveUser {
  return state.status === 'active' ? state : refuse('resource_must_exist')
}

function begun(state: User): ActiveUser {
  if (state.status === 'active') return state
  throw new Error('the stream does not start with UserRegistered')
}

/** Somebody else may have known the one before, so what was begun with it is worth nothing. */
function withAnotherPassword(state: User, session: string | null = null): ActiveUser {
  const user = begun(state)
  return { ...user, ...endingSessions(user, session), passwordChanges: user.passwordChanges + 1 }
}

/** A part decides only for users who exist. */
function ofExisting<Commands extends Payloads, Events extends Payloads>(
  decisions: Decisions<ActiveUser, Commands, Events>,
): Decisions<User, Commands, Events> {
  return eachStep(decisions, (decide: Decisions<ActiveUser, Payloads, Events>[string]) => {
    return (command: object, state: User, context: Context<UserOwner>) =>
      decide(command, existing(state), context)
  })
}

/** What a part changes is changed in its user. */
function changing<Events extends Payloads>(changes: Changes<ActiveUser, Events>): Evolutions<User, Events> {
  return eachStep(changes, (change: Changes<ActiveUser, Payloads>[string]) => {
    return (state: User, event: object, stamp: Stamp<UserOwner>) => {
      const user = begun(state)
      return { ...user, ...change(user, event, stamp) }
    }
  })
}

/** What a user is told of by mail is noted beside what it changes. */
function noticing(steps: Evolutions<User, UserEvents>): Evolutions<User, UserEvents> {
  const noted = noticed.map((what) => {
    const step = steps[what] as Evolutions<User, Payloads>[string]
    return [
      what,
      (state: User, event: object, stamp: Stamp<UserOwner>) => {
        const next = begun(step(state, event, stamp))
        return { ...next, notices: [...next.notices, { what, at: stamp.at }] }
      },
    ]
  })
  return { ...steps, ...Object.fromEntries(noted) }
}

/** What was begun with the password before comes to nothing: it may have been somebody else. */
function passwordChanged(known: ActiveUser, data: UserEvents['UserPasswordChanged']) {
  return [{ type: 'UserPasswordChanged' as const, data }, ...cancellationOf(known)]
}
