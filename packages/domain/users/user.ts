import { refuse } from '../../contract/refusals.ts'
import type { Context, Decider } from '../../kernel/decider.ts'
import type { UserOwner } from '../../kernel/owner.ts'
import { decideContacts, evolveContacts, noChanges, type ContactCommands, type Contacts } from './contacts.ts'
import { userEvents, type UserEvents } from './events.ts'
import {
  decideGoogle,
  disconnectionOf,
  evolveGoogle,
  noGoogle,
  type Google,
  type GoogleCommands,
} from './google.ts'
import { decideFactors, evolveFactors, noFactors, type FactorCommands, type Factors } from './factors.ts'
import {
  decidePasskeys,
  evolvePasskeys,
  noPasskeys,
  removalOf,
  type PasskeyCommands,
  type Passkeys,
} from './passkeys.ts'
import { afterLeaving, type LeftUser } from './leaving.ts'
import { decidePhones, evolvePhones, noPhoneChange, type PhoneCommands, type Phones } from './phones.ts'
import { linkLastsMs, type Link, type LinkPurpose } from './links.ts'
import { noGuide, progressOnboarding, type Guide, type OnboardingCommands } from './onboarding.ts'

// State

type Registered = Pick<UserEvents['UserRegistered'], 'password' | 'merchant'>

export interface ActiveUser extends Registered, Factors, Contacts, Passkeys, Google, Phones {
  readonly status: 'active'
  /** The newest of each purpose: it makes older ones invalid. */
  readonly links: Readonly<Partial<Record<LinkPurpose, Link>>>
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
  OnboardingCommands & {
    /** `verified`: what was proved by codes before. */
    RegisterUser: UserEvents['UserRegistered'] & { verified?: readonly ('email' | 'phone')[] }
    /** After it, whoever still has this hold is refused. */
    AbandonUserHold: { hold: string }
    RequestEmailVerification: { link: string }
    VerifyEmail: { link: string }
    /** A link that somebody else had mailed has proved the address. */
    ConfirmEmail: object
    /** By whoever has the mailbox, from somebody who never showed to have it. */
    TakeOver: { password: string }
    RequestPasswordReset: { link: string }
    RequestMagicLink: { link: string }
    UseMagicLink: { link: string }
    /** `link`: the one that was mailed. Without it the caller has proved otherwise that it may. */
    ChangePassword: { password: string; session: string | null; link?: string }
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

  decide: {
    RegisterUser({ verified = [], ...registered }, { status, abandoned }) {
      if (status !== 'none') return []
      if (registered.held.some(({ hold }) => abandoned.includes(hold)))
        refuse('resource_must_not_have_changed')
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

    RequestEmailVerification({ link }, state, context) {
      const { emailVerified, links } = existing(state)
      if (links.verify_email?.id === link) return []
      if (emailVerified) refuse('email_must_not_be_verified_yet')
      return [{ type: 'UserEmailVerificationRequested', data: newLink('verify_email', link, context) }]
    },

    VerifyEmail({ link }, state, context) {
      useLink(existing(state), 'verify_email', { link, context })
      return [{ type: 'UserEmailVerified', data: {} }]
    },

    TakeOver({ password }, state) {
      const known = existing(state)
      const changed = { type: 'UserPasswordChanged', data: { password, session: null } } as const
      return known.emailVerified ? [] : [...provenFirst(known), changed]
    },

    ConfirmEmail: (_, state) =>
      existing(state).emailVerified ? [] : [{ type: 'UserEmailVerified', data: {} }],

    RequestPasswordReset({ link }, state, context) {
      if (existing(state).links.reset_password?.id === link) return []
      return [{ type: 'UserPasswordResetRequested', data: newLink('reset_password', link, context) }]
    },

    RequestMagicLink({ link }, state, context) {
      const { links, emailVerified } = existing(state)
      if (links.magic_link?.id === link) return []
      // Whoever registered it may be another one than who has the mailbox, and knows the password.
      if (!emailVerified) return user.decide.RequestPasswordReset({ link }, state, context)
      return [{ type: 'UserMagicLinkRequested', data: newLink('magic_link', link, context) }]
    },

    UseMagicLink({ link }, state, context) {
      useLink(existing(state), 'magic_link', { link, context })
      return [{ type: 'UserMagicLinkUsed', data: { link } }]
    },

    ChangePassword({ password, session, link }, state, context) {
      const known = existing(state)
      const changed = { type: 'UserPasswordChanged', data: { password, session } } as const
      if (link === undefined) return [changed]
      useLink(known, 'reset_password', { link, context })
      return known.emailVerified ? [changed] : [...provenFirst(known), changed]
    },

    NoteLinkMailed(mailed, state) {
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
    RevisePersonalInfo: (command, state, context) =>
      decideContacts.RevisePersonalInfo(command, existing(state), context),
    RequestEmailChange: (command, state, context) =>
      decideContacts.RequestEmailChange(command, existing(state), context),
    NoteEmailChangeMailed: (command, state, context) =>
      decideContacts.NoteEmailChangeMailed(command, existing(state), context),
    CancelEmailChange: (command, state, context) =>
      decideContacts.CancelEmailChange(command, existing(state), context),
    ChangeEmail: (command, state, context) => decideContacts.ChangeEmail(command, existing(state), context),
    NotePreviousEmailTold: (command, state, context) =>
      decideContacts.NotePreviousEmailTold(command, existing(state), context),
    SetUpTotp: (command, state, context) => decideFactors.SetUpTotp(command, existing(state), context),
    EnableTotp: (command, state, context) => decideFactors.EnableTotp(command, existing(state), context),
    UseTotp: (command, state, context) => decideFactors.UseTotp(command, existing(state), context),
    DisableTotp: (command, state, context) => decideFactors.DisableTotp(command, existing(state), context),
    GenerateRecoveryCodes: (command, state, context) =>
      decideFactors.GenerateRecoveryCodes(command, existing(state), context),
    UseRecoveryCode: (command, state, context) =>
      decideFactors.UseRecoveryCode(command, existing(state), context),
    RequestPhoneChange: (command, state, context) =>
      decidePhones.RequestPhoneChange(command, existing(state), context),
    ChangePhone: (command, state, context) => decidePhones.ChangePhone(command, existing(state), context),
    RegisterPasskey: (command, state, context) =>
      decidePasskeys.RegisterPasskey(command, existing(state), context),
    UsePasskey: (command, state, context) => decidePasskeys.UsePasskey(command, existing(state), context),
    RenamePasskey: (command, state, context) =>
      decidePasskeys.RenamePasskey(command, existing(state), context),
    RemovePasskey: (command, state, context) =>
      decidePasskeys.RemovePasskey(command, existing(state), context),
    ConnectGoogle: (command, state, context) => decideGoogle.ConnectGoogle(command, existing(state), context),
    DisconnectGoogle: (command, state, context) =>
      decideGoogle.DisconnectGoogle(command, existing(state), context),
  },

  evolve: {
    UserRegistered: (state, { founded, ...registered }, { at }) => ({
      ...registered,
      status: 'active',
      emailVerified: false,
      links: {},
      ...noFactors,
      ...noChanges,
      ...noPasskeys,
      ...noGoogle,
      ...noPhoneChange,
      passwordChanges: 0,
      guide: noGuide,
      abandoned: state.abandoned,
      createdAt: at,
    }),
    UserHoldAbandoned: (state, { hold }) => ({ ...state, abandoned: [...state.abandoned, hold] }),
    UserEmailVerificationRequested: (state, { link, expiresAt }) =>
      withLink(state, 'verify_email', { id: link, expiresAt, isMailed: false }),
    UserEmailVerified: (state) => ({ ...withLink(state, 'verify_email', undefined), emailVerified: true }),
    UserPasswordResetRequested: (state, { link, expiresAt }) =>
      withLink(state, 'reset_password', { id: link, expiresAt, isMailed: false }),
    // Who can change the password needs no link that was mailed for it before.
    UserPasswordChanged: (state, { password }) => ({
      ...withLink(state, 'reset_password', undefined),
      password,
      passwordChanges: begun(state).passwordChanges + 1,
    }),
    UserLinkMailed: (state, { purpose }) =>
      withLink(state, purpose, { ...begun(state).links[purpose]!, isMailed: true }),
    UserDefaultMerchantChosen: (state, { merchant }) => ({ ...begun(state), merchant }),
    UserOnboardingProgressed: (state, guide) => ({ ...begun(state), guide }),
    UserMagicLinkRequested: (state, { link, expiresAt }) =>
      withLink(state, 'magic_link', { id: link, expiresAt, isMailed: false }),
    // Whoever opens it has the mailbox.
    UserMagicLinkUsed: (state) => ({ ...withLink(state, 'magic_link', undefined), emailVerified: true }),
    UserLeft: (state) => afterLeaving(begun(state)),
    UserPersonalInfoRevised: (state, event) => evolveContacts.UserPersonalInfoRevised(begun(state), event),
    UserEmailChangeRequested: (state, event) => evolveContacts.UserEmailChangeRequested(begun(state), event),
    UserEmailChangeMailed: (state) => evolveContacts.UserEmailChangeMailed(begun(state)),
    UserEmailChangeCanceled: (state) => evolveContacts.UserEmailChangeCanceled(begun(state)),
    UserEmailChanged: (state, event) => evolveContacts.UserEmailChanged(begun(state), event),
    UserPreviousEmailTold: (state) => evolveContacts.UserPreviousEmailTold(begun(state)),
    UserTotpSetupStarted: (state, event) => evolveFactors.UserTotpSetupStarted(begun(state), event),
    UserTotpEnabled: (state, event) => evolveFactors.UserTotpEnabled(begun(state), event),
    UserTotpUsed: (state, event) => evolveFactors.UserTotpUsed(begun(state), event),
    UserTotpDisabled: (state) => evolveFactors.UserTotpDisabled(begun(state)),
    UserRecoveryCodesGenerated: (state, event, stamp) =>
      evolveFactors.UserRecoveryCodesGenerated(begun(state), event, stamp),
    UserRecoveryCodeUsed: (state, event) => evolveFactors.UserRecoveryCodeUsed(begun(state), event),
    UserPhoneChangeRequested: (state, event) => evolvePhones.UserPhoneChangeRequested(begun(state), event),
    UserPhoneChanged: (state, event) => evolvePhones.UserPhoneChanged(begun(state), event),
    UserPhoneVerified: (state) => evolvePhones.UserPhoneVerified(begun(state)),
    UserPasskeyRegistered: (state, event, stamp) =>
      evolvePasskeys.UserPasskeyRegistered(begun(state), event, stamp),
    UserPasskeyUsed: (state, event, stamp) => evolvePasskeys.UserPasskeyUsed(begun(state), event, stamp),
    UserPasskeyRenamed: (state, event) => evolvePasskeys.UserPasskeyRenamed(begun(state), event),
    UserPasskeyRemoved: (state, event) => evolvePasskeys.UserPasskeyRemoved(begun(state), event),
    UserGoogleConnected: (state, event) => evolveGoogle.UserGoogleConnected(begun(state), event),
    UserGoogleDisconnected: (state, event) => evolveGoogle.UserGoogleDisconnected(begun(state), event),
  },
}

export function existing(state: User): ActiveUser {
  return state.status === 'active' ? state : refuse('resource_must_exist')
}

function begun(state: User): ActiveUser {
  if (state.status === 'active') return state
  throw new Error('the stream does not start with UserRegistered')
}

/** Whoever has the mailbox takes the account over from somebody who never showed to have it. */
function provenFirst({ totp, passkeys, google, held }: ActiveUser) {
  const verified = { type: 'UserEmailVerified' as const, data: {} }
  const disabled = totp ? [{ type: 'UserTotpDisabled' as const, data: {} }] : []
  const removed = passkeys.map((passkey) => removalOf(passkey, { held }))
  return [verified, ...disabled, ...removed, ...disconnectionOf({ google, held })]
}

function newLink(purpose: LinkPurpose, link: string, { now }: Context<UserOwner>) {
  return { link, expiresAt: new Date(now.getTime() + linkLastsMs[purpose]).toISOString() }
}

interface Using {
  readonly link: string
  readonly context: Context<UserOwner>
}

/** One use, only the newest, not too late. */
function useLink({ links }: ActiveUser, purpose: LinkPurpose, { link, context }: Using): void {
  const newest = links[purpose]
  if (newest?.id !== link || context.now >= new Date(newest.expiresAt)) refuse('token_must_be_valid')
}

function withLink(state: User, purpose: LinkPurpose, link: Link | undefined): ActiveUser {
  const { [purpose]: _, ...others } = begun(state).links
  return { ...begun(state), links: { ...others, ...(link && { [purpose]: link }) } }
}
