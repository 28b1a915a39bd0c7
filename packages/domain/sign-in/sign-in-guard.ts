import { refuse } from '../../contract/refusals.ts'
import { literals, nullable, record, Uuid } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
import type { PlatformOwner } from '../../kernel/owner.ts'

// Events. Whose the address is is not in them: the stream's id is an HMAC of it.

const LinkPurpose = literals('reset_password', 'magic_link')

/** A newer version only has more purposes. */
const asItWas = (old: object) => old

export const signInGuardEvents = {
  /** A code is on its way to the address. */
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
  readonly purpose: MailedPurpose | 'code'
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
const linksPerHour = 5
const codesPerHour = 10
/** Remembered at most, which is more than any limit. */
const rememberedMax = 100

/** Inferred: one address can be that of a whole town's mobile network. */
export const triesMax = { account: 10, address: 100 } as const

export type SignInGuardCommands = {
  TrySignIn: SignInGuardEvents['SignInTried'] & { of: keyof typeof triesMax }
  /** `attempt`: which one passed, or the mailed link that proved it otherwise. */
  PassSignIn: { attempt: string }
  RequestCode: { challenge: string; isLimited: boolean }
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
      const waits = waitsOf(requested, { purpose: request.purpose, perHour: linksPerHour, now })
      if (isLimited && waits > 0) return []
      return [{ type: 'SignInLinkRequested', data: request }]
    },

    RequestCode({ challenge, isLimited }, { requested }, { now }) {
      const waitMs = waitsOf(requested, { purpose: 'code', perHour: codesPerHour, now })
      if (isLimited && waitMs > 0)
        refuse('rate_must_be_within_the_limit', { retryAfterSeconds: Math.ceil(waitMs / 1_000) })
      return [{ type: 'SignInCodeRequested', data: { challenge } }]
    },
  },

  evolve: {
    SignInTried: (state, { attempt }, { at }) => ({
      ...state,
      tried: [...state.tried, { attempt, at }].slice(-rememberedMax),
    }),
    SignInPassed: (state) => ({ ...state, tried: [] }),
    SignInLinkRequested: (state, { purpose }, { at }) => asked(state, { purpose, at }),
    SignInCodeRequested: (state, _, { at }) => asked(state, { purpose: 'code', at }),
  },
}

function asked(state: SignInGuard, one: Requested): SignInGuard {
  return { ...state, requested: [...state.requested, one].slice(-rememberedMax) }
}

interface Mailing {
  readonly purpose: Requested['purpose']
  readonly perHour: number
  readonly now: Date
}

/** Until the next mail of this kind may be sent. */
function waitsOf(requested: readonly Requested[], { purpose, perHour, now }: Mailing): number {
  const times = requested.filter((one) => one.purpose === purpose).map(({ at }) => Date.parse(at))
  const [last = -Infinity, first = -Infinity] = [times.at(-1), times.at(-perHour)]
  return Math.max(last + resendAfterMs, first + hourMs) - now.getTime()
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
