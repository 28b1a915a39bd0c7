import { refuse } from '../../contract/refusals.ts'
import { literals, nullable, record, Uuid } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
import type { PlatformOwner } from '../../kernel/owner.ts'

// Events. Whose the address is is not in them: the stream's id is an HMAC of it.

const LinkPurpose = literals('reset_password', 'magic_link')

/** What somebody who is known, or not yet, may have sent to an address so many times an hour. */
const mailsPerHour = {
  code: 10,
  verify_email: 5,
  email_change: 5,
  pre_signup: 5,
  phone_change: 5,
  /** Messages cost money, so they are counted by who asks for them too. */
  texts: 20,
  /** Of one network, which can be that of a whole town: each mails somebody who may not have asked. */
  registrations: 100,
} as const
export type MailPurpose = keyof typeof mailsPerHour
const mailPurposes = Object.keys(mailsPerHour) as [MailPurpose, ...MailPurpose[]]

/** A newer version only has more purposes. */
const asItWas = (old: object) => old

export const signInGuardEvents = {
  /** A code, or a link that a user has asked for, is on its way to the address or number. */
  SignInMailRequested: stored(3, record({ purpose: literals(...mailPurposes) }), {
    1: asItWas,
    2: asItWas,
  }),
  /** The same before there were purposes. */
  SignInCodeRequested: stored(1, record({ challenge: Uuid })),
  /** Counted before the password is looked at, so that a thousand guesses at once are a thousand. */
  SignInTried: stored(1, record({ attempt: Uuid, user: nullable(Uuid) })),
  SignInPassed: stored(1, record({ attempt: Uuid })),
  /** `user` is null where nobody has the address: then nothing follows from it. */
  SignInLinkRequested: stored(2, record({ link: Uuid, purpose: LinkPurpose, user: nullable(Uuid) }), {
    1: asItWas,
  }),
}

export type SignInGuardEvents = EventsOf<typeof signInGuardEvents>
export type MailedPurpose = SignInGuardEvents['SignInLinkRequested']['purpose']

// State

interface Requested {
  readonly purpose: MailedPurpose | MailPurpose
  readonly at: string
}

/**
 * What was tried with one e-mail address, whether or not somebody has it: so answers are the same. Or from
 * one network address, over all accounts.
 */
export interface SignInGuard {
  /** Times of attempts that did not pass, oldest first. */
  readonly tried: readonly { readonly attempt: string; readonly at: string }[]
  readonly requested: readonly Requested[]
}

// Decisions

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** Domain model, section 4. */
const lockMs = 15 * minuteMs
const resendAfterMs = 30_000
/**
 * A link that signs in lasts as long: who uses up the limit of somebody else, to keep a locked account shut,
 * leaves one in the mailbox that works.
 */
const linkEveryMs = 15 * minuteMs
/** So many come as soon as they are asked for. */
const linksAtOnce = 2
/** Remembered at most: the highest limit looks so far back. */
const rememberedMax = 100
/** Several people ask for these, who need not wait for each other. */
const shared: readonly string[] = ['texts', 'registrations'] satisfies MailPurpose[]

/** Inferred: one address can be that of a whole town's mobile network. */
export const triesMax = { account: 10, address: 100 } as const

export type SignInGuardCommands = {
  TrySignIn: SignInGuardEvents['SignInTried'] & { of: keyof typeof triesMax }
  /** `attempt`: which one passed, or the mailed link that proved it otherwise. */
  PassSignIn: { attempt: string }
  RequestMail: { purpose: MailPurpose; isLimited: boolean }
  RequestSignInLink: SignInGuardEvents['SignInLinkRequested'] & { isLimited: boolean }
}

export const signInGuard: Decider<SignInGuard, SignInGuardCommands, SignInGuardEvents, PlatformOwner> = {
  category: 'sign_in',
  owners: ['platform'],
  time: 'real',
  events: signInGuardEvents,
  initial: () => ({ tried: [], requested: [] }),
  snapshot: { version: 1, every: () => 200 },

  decide: {
    TrySignIn({ of, ...attempt }, state, { now }) {
      refuseLocked(state, of, now)
      return [{ type: 'SignInTried', data: attempt }]
    },

    PassSignIn: ({ attempt }, { tried }) =>
      tried.length > 0 ? [{ type: 'SignInPassed', data: { attempt } }] : [],

    RequestSignInLink({ isLimited, ...request }, { requested }, { now }) {
      if (isLimited && linkWaits(requested, request.purpose, now) > 0) return []
      return [{ type: 'SignInLinkRequested', data: request }]
    },

    RequestMail({ purpose, isLimited }, { requested }, { now }) {
      const waitMs = mailWaits(requested, purpose, now)
      if (isLimited && waitMs > 0)
        refuse('rate_must_be_within_the_limit', { retryAfterSeconds: Math.ceil(waitMs / 1_000) })
      return [{ type: 'SignInMailRequested', data: { purpose } }]
    },
  },

  evolve: {
    SignInTried: (state, { attempt }, { at }) => ({
      ...state,
      tried: [...state.tried, { attempt, at }].slice(-rememberedMax),
    }),
    SignInPassed: (state) => ({ ...state, tried: [] }),
    SignInLinkRequested: (state, { purpose }, { at }) => asked(state, { purpose, at }),
    SignInMailRequested: (state, { purpose }, { at }) => asked(state, { purpose, at }),
    SignInCodeRequested: (state, _, { at }) => asked(state, { purpose: 'code', at }),
  },
}

function asked(state: SignInGuard, one: Requested): SignInGuard {
  return { ...state, requested: [...state.requested, one].slice(-rememberedMax) }
}

/** Until the next mail of this kind may be sent. */
function mailWaits(requested: readonly Requested[], purpose: MailPurpose, now: Date): number {
  const times = timesOf(requested, purpose)
  const [last = -Infinity, first = -Infinity] = [times.at(-1), times.at(-mailsPerHour[purpose])]
  const again = shared.includes(purpose) ? last : last + resendAfterMs
  return Math.max(again, first + hourMs) - now.getTime()
}

/** The same for a link that a stranger asks for. */
function linkWaits(requested: readonly Requested[], purpose: MailedPurpose, now: Date): number {
  const times = timesOf(requested, purpose).filter((time) => now.getTime() - time < hourMs)
  const everyMs = times.length < linksAtOnce ? resendAfterMs : linkEveryMs
  return (times.at(-1) ?? -Infinity) + everyMs - now.getTime()
}

function timesOf(requested: readonly Requested[], purpose: Requested['purpose']): readonly number[] {
  return requested.filter((one) => one.purpose === purpose).map(({ at }) => Date.parse(at))
}

/** After so many failures in a quarter of an hour, for a quarter of an hour after the last of them. */
export function refuseLocked({ tried }: SignInGuard, of: keyof typeof triesMax, now: Date): void {
  const last = tried.at(-1)
  const first = tried.at(-triesMax[of])
  if (!last || !first) return
  const isLocked = Date.parse(last.at) - Date.parse(first.at) < lockMs
  const leftMs = Date.parse(last.at) + lockMs - now.getTime()
  if (isLocked && leftMs > 0)
    refuse('sign_in_must_not_be_locked', { retryAfterSeconds: Math.ceil(leftMs / 1_000) })
}
