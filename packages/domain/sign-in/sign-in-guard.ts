import { refuse } from '../../contract/refusals.ts'
import { literals, nullable, record, Type, Uuid } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
import type { PlatformOwner } from '../../kernel/owner.ts'

// Events. Whose the address is is not in them: the stream's id is an HMAC of it.

const LinkPurpose = literals('reset_password', 'magic_link')

/** So many an hour go to an address. Whoever asks has at most as many of them as are left for others. */
const mailsPerHour = {
  code: 20,
  verify_email: 10,
  email_change: 10,
  pre_signup: 10,
  invitation: 10,
  phone_change: 10,
  /** Messages cost money, so they are counted by who asks for them too. */
  texts: 20,
  /** Of one network, which can be that of a whole town: each mails somebody who may not have asked. */
  registrations: 100,
  /** Of one user, to whomever. */
  invitations: 100,
} as const
export type MailPurpose = keyof typeof mailsPerHour
const mailPurposes = Object.keys(mailsPerHour) as [MailPurpose, ...MailPurpose[]]

/** A newer version only has more purposes. */
const asItWas = (old: object) => old
const withoutAsker = (old: object) => ({ ...old, asker: null })
/** An HMAC of the user or network address that asks. Null where that is what the stream counts. */
const Asker = nullable(Type.String())

export const signInGuardEvents = {
  /** A code, or a link that a user has asked for, is on its way to the address or number. */
  SignInMailRequested: stored(5, record({ purpose: literals(...mailPurposes), asker: Asker }), {
    1: asItWas,
    2: asItWas,
    3: withoutAsker,
    4: asItWas,
  }),
  /** The same before there were purposes. */
  SignInCodeRequested: stored(1, record({ challenge: Uuid })),
  /**
   * A password that was wrong. A code counts before it is looked at, and so did passwords once: then
   * `SignInPassed` takes it back.
   */
  SignInTried: stored(1, record({ attempt: Uuid, user: nullable(Uuid) })),
  SignInPassed: stored(1, record({ attempt: Uuid })),
  /** While locked: the first of all that come until the lock is over. */
  SignInRefused: stored(1, record({ attempt: Uuid, user: nullable(Uuid) })),
  /**
   * Who has the address is found out later, by its claim: so the answer cannot tell. In older versions it was
   * `user`, and null for nobody.
   */
  SignInLinkRequested: stored(
    3,
    record({
      link: Uuid,
      purpose: LinkPurpose,
      user: nullable(Uuid),
      claim: nullable(Uuid),
      asker: Asker,
    }),
    { 1: asItWas, 2: (old) => ({ ...old, claim: null, asker: null }) },
  ),
}

export type SignInGuardEvents = EventsOf<typeof signInGuardEvents>
export type MailedPurpose = SignInGuardEvents['SignInLinkRequested']['purpose']

// State

interface Asked {
  readonly purpose: MailedPurpose | MailPurpose
  readonly asker: string | null
}

interface Requested extends Asked {
  readonly at: string
}

/**
 * What was tried with one e-mail address, whether or not somebody has it: so answers are the same. Or from
 * one network address, over all accounts.
 */
export interface SignInGuard {
  /** Times of attempts that did not pass, oldest first. */
  readonly tried: readonly { readonly attempt: string; readonly at: string }[]
  /** Attempts that were forgotten when another one passed, and may still pass too. */
  readonly forgotten: readonly string[]
  /** A try that this lock has refused is noted. */
  readonly isRefusalNoted: boolean
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
/** So many come to one who asks, and to all of them, as soon as they are asked for. */
const linksAtOnce = { asker: 2, address: 6 }
/** Remembered at most: the highest limit looks so far back. */
const rememberedMax = 400
/** Several people ask for these, who need not wait for each other. */
const shared: readonly string[] = ['texts', 'registrations', 'invitations'] satisfies MailPurpose[]
/** Nobody asks for these twice by mistake. */
const atOnce: readonly string[] = [...shared, 'invitation' satisfies MailPurpose]

/** Inferred: one address can be that of a whole town's mobile network. With IPv6 a subscriber has many. */
export const triesMax = { account: 10, address: 100, subscriber: 200, site: 400 } as const

export type SignInGuardCommands = {
  TrySignIn: SignInGuardEvents['SignInTried'] & { of: keyof typeof triesMax }
  /** `attempt`: which one passed, or the mailed link that proved it otherwise. */
  PassSignIn: { attempt: string }
  /** `times`: so many of the usual limit, for a network that many share. */
  RequestMail: SignInGuardEvents['SignInMailRequested'] & { isLimited: boolean; times?: number }
  RequestSignInLink: SignInGuardEvents['SignInLinkRequested'] & { isLimited: boolean }
}

export const signInGuard: Decider<SignInGuard, SignInGuardCommands, SignInGuardEvents, PlatformOwner> = {
  category: 'sign_in',
  owners: ['platform'],
  time: 'real',
  events: signInGuardEvents,
  initial: () => ({ tried: [], forgotten: [], isRefusalNoted: false, requested: [] }),
  snapshot: { version: 2, every: () => 200 },

  decide: {
    TrySignIn({ of, ...attempt }, state, { now }) {
      const isNew = of === 'account' && !state.isRefusalNoted
      if (isNew && lockedMs(state, of, now) > 0) return [{ type: 'SignInRefused', data: attempt }]
      refuseLocked(state, of, now)
      return [{ type: 'SignInTried', data: attempt }]
    },

    PassSignIn: ({ attempt }, { tried, forgotten }) =>
      tried.length > 0 || forgotten.includes(attempt) ? [{ type: 'SignInPassed', data: { attempt } }] : [],

    RequestSignInLink({ isLimited, ...request }, { requested }, { now }) {
      if (isLimited && linkWaits(requested, request, now) > 0) return []
      return [{ type: 'SignInLinkRequested', data: request }]
    },

    RequestMail({ isLimited, times, ...request }, { requested }, { now }) {
      const waitMs = mailWaits(requested, { ...request, times }, now)
      if (isLimited && waitMs > 0)
        refuse('rate_must_be_within_the_limit', { retryAfterSeconds: Math.ceil(waitMs / 1_000) })
      return [{ type: 'SignInMailRequested', data: request }]
    },
  },

  evolve: {
    SignInTried: (state, { attempt }, { at }) => ({
      ...state,
      tried: [...state.tried, { attempt, at }].slice(-rememberedMax),
      isRefusalNoted: false,
    }),
    SignInPassed: (state, { attempt }) => ({
      ...state,
      tried: [],
      forgotten: [...state.forgotten, ...state.tried.map((one) => one.attempt)]
        .filter((one) => one !== attempt)
        .slice(-rememberedMax),
      isRefusalNoted: false,
    }),
    SignInRefused: (state) => ({ ...state, isRefusalNoted: true }),
    SignInLinkRequested: (state, { purpose, asker }, { at }) => asked(state, { purpose, asker, at }),
    SignInMailRequested: (state, { purpose, asker }, { at }) => asked(state, { purpose, asker, at }),
    SignInCodeRequested: (state, _, { at }) => asked(state, { purpose: 'code', asker: null, at }),
  },
}

function asked(state: SignInGuard, one: Requested): SignInGuard {
  return { ...state, requested: [...state.requested, one].slice(-rememberedMax) }
}

/** Until the next mail of this kind may be sent for whoever asks. */
function mailWaits(
  requested: readonly Requested[],
  asked: Asked & { purpose: MailPurpose; times: number | undefined },
  now: Date,
): number {
  const { all, own } = lastHour(requested, asked, now)
  const left = mailsPerHour[asked.purpose] * (asked.times ?? 1) - all.length
  const isShared = shared.includes(asked.purpose)
  const again = atOnce.includes(asked.purpose) ? 0 : (own.at(-1) ?? -Infinity) + resendAfterMs
  const isOver = left <= 0 || (!isShared && own.length >= left)
  return Math.max(again, isOver ? all[0]! + hourMs : 0) - now.getTime()
}

/** The same for a link that a stranger asks for. */
function linkWaits(requested: readonly Requested[], asked: Asked, now: Date): number {
  const { all, own } = lastHour(requested, asked, now)
  const isAtOnce = own.length < linksAtOnce.asker && all.length < linksAtOnce.address
  const from = isAtOnce ? (own.at(-1) ?? -Infinity) + resendAfterMs : all.at(-1)! + linkEveryMs
  return from - now.getTime()
}

/** When it was asked for, oldest first: by anybody, and by the same one. */
function lastHour(requested: readonly Requested[], { purpose, asker }: Asked, now: Date) {
  const recent = requested.filter(
    (one) => one.purpose === purpose && now.getTime() - Date.parse(one.at) < hourMs,
  )
  const timesOf = (some: readonly Requested[]) => some.map(({ at }) => Date.parse(at))
  return { all: timesOf(recent), own: timesOf(recent.filter((one) => one.asker === asker)) }
}

/** After so many failures in a quarter of an hour, for a quarter of an hour after the last of them. */
export function refuseLocked(state: SignInGuard, of: keyof typeof triesMax, now: Date): void {
  const leftMs = lockedMs(state, of, now)
  if (leftMs > 0) refuse('sign_in_must_not_be_locked', { retryAfterSeconds: Math.ceil(leftMs / 1_000) })
}

/** For so long it stays locked. */
export function lockedMs({ tried }: SignInGuard, of: keyof typeof triesMax, now: Date): number {
  const last = tried.at(-1)
  const first = tried.at(-triesMax[of])
  if (!last || !first) return 0
  const isLocked = Date.parse(last.at) - Date.parse(first.at) < lockMs
  return isLocked ? Date.parse(last.at) + lockMs - now.getTime() : 0
}
