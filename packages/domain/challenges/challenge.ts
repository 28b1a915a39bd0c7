import { begun, existing } from '../../contract/existing.ts'
import { refuse } from '../../contract/refusals.ts'
import { literals, nullable, record, Timestamp, Type, Uuid } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { sealedFor, stored, type EventsOf } from '../../kernel/event-types.ts'
import type { PlatformOwner, UserOwner } from '../../kernel/owner.ts'
import { personal } from '../../kernel/personal.ts'

/** Domain model 5.11. What was proved for one of them proves nothing for another. */
export const stepUpPurposes = [
  'change_password',
  'change_email',
  'change_phone',
  'sensitive_update',
  'enable_totp',
  'disable_totp',
  'recovery_codes',
  'google_connect',
  'google_disconnect',
  'remove_passkey',
  'passkey_registration',
  'api_key',
] as const
export const challengePurposes = [
  'sign_in',
  'pre_signup_email',
  'pre_signup_phone',
  'passkey_login',
  'passkey_creation',
  'google_login',
  'google_linking',
  'new_phone',
  ...stepUpPurposes,
] as const
export type ChallengePurpose = (typeof challengePurposes)[number]

/** How it is answered: with a code that is mailed, sent or shown, by a device, or by Google. */
export const challengeMethods = ['email', 'sms', 'totp', 'passkey', 'recovery_code', 'google'] as const
export type ChallengeMethod = (typeof challengeMethods)[number]

/** A newer version only has more purposes and methods. */
const asItWas = (old: object) => old

const Method = literals(...challengeMethods)
const lastsMs = 10 * 60_000
/** Domain model, section 4. */
export const triesMax = 5

// Events. The code is in none of them: it follows from the id and a key.

export const challengeEvents = {
  ChallengeIssued: sealedFor(
    ({ user }, id) => (user === null ? `challenge/${id}` : `user/${user}`),
    stored(
      5,
      record({
        purpose: literals(...challengePurposes),
        method: Method,
        /** Null before there is one. */
        user: nullable(Uuid),
        /** Where a code is sent. */
        destination: personal(nullable(Type.String())),
        language: literals('fr', 'en'),
        /** How often the user had changed the password by then. */
        passwordChanges: Type.Integer(),
        expiresAt: Timestamp,
      }),
      { 1: (old) => ({ ...old, passwordChanges: 0 }), 2: asItWas, 3: asItWas, 4: asItWas },
    ),
  ),
  ChallengeCodeSent: stored(1, record({})),
  ChallengeVerified: stored(2, record({ method: Method }), { 1: asItWas }),
  ChallengeFailed: stored(1, record({})),
  /** By which request: its repeats may go on with it. */
  ChallengeConsumed: stored(1, record({ by: Uuid })),
}

export type ChallengeEvents = EventsOf<typeof challengeEvents>

// State

interface Issued extends Readonly<ChallengeEvents['ChallengeIssued']> {
  readonly issuedAt: string
  readonly failures: number
  readonly isSent: boolean
}

export type Challenge =
  | { readonly status: 'none' }
  | (Issued & { readonly status: 'pending' | 'failed' })
  | (Issued & { readonly status: 'verified'; readonly verifiedAt: string })
  | (Issued & { readonly status: 'consumed'; readonly by: string })

export type IssuedChallenge = Exclude<Challenge, { status: 'none' }>

// Decisions

export type ChallengeCommands = {
  IssueChallenge: Omit<ChallengeEvents['ChallengeIssued'], 'expiresAt'>
  NoteCodeSent: object
  /** Whether the answer is right is found out outside; how often it may be wrong is decided here. */
  AnswerChallenge: { isRight: boolean; method: ChallengeMethod }
  ConsumeChallenge: { purpose: ChallengePurpose; by: string }
}

export const challenge: Decider<Challenge, ChallengeCommands, ChallengeEvents, UserOwner | PlatformOwner> = {
  category: 'challenge',
  owners: ['user', 'platform'],
  time: 'real',
  events: challengeEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    IssueChallenge(issue, { status }, { now }) {
      if (status !== 'none') return []
      const expiresAt = new Date(now.getTime() + lastsMs).toISOString()
      return [{ type: 'ChallengeIssued', data: { ...issue, expiresAt } }]
    },

    NoteCodeSent: (_, state) => (existing(state).isSent ? [] : [{ type: 'ChallengeCodeSent', data: {} }]),

    AnswerChallenge({ isRight, method }, state, { now }) {
      const { status, expiresAt } = existing(state)
      if (status !== 'pending') refuse('challenge_must_be_pending')
      if (now >= new Date(expiresAt)) refuse('code_must_be_right')
      return [
        isRight ? { type: 'ChallengeVerified', data: { method } } : { type: 'ChallengeFailed', data: {} },
      ]
    },

    ConsumeChallenge({ purpose, by }, state, { now }) {
      if (state.status === 'consumed' && state.by === by) return []
      if (state.status !== 'verified' || state.purpose !== purpose)
        return refuse('challenge_must_be_verified')
      if (now.getTime() - Date.parse(state.verifiedAt) >= lastsMs) refuse('challenge_must_be_verified')
      return [{ type: 'ChallengeConsumed', data: { by } }]
    },
  },

  evolve: {
    ChallengeIssued: (_, issued, { at }) => {
      return { ...issued, status: 'pending', issuedAt: at, failures: 0, isSent: false }
    },
    ChallengeCodeSent: (state) => ({ ...begun(state), isSent: true }),
    ChallengeVerified: (state, _, { at }) => ({ ...begun(state), status: 'verified', verifiedAt: at }),
    ChallengeFailed: (state) => {
      const failures = begun(state).failures + 1
      return { ...begun(state), failures, status: failures >= triesMax ? 'failed' : 'pending' }
    },
    ChallengeConsumed: (state, { by }) => ({ ...begun(state), status: 'consumed', by }),
  },
}

/** What it is now: nothing tells that its time is over but the time. */
export function statusOf(state: IssuedChallenge, now: Date): IssuedChallenge['status'] | 'expired' {
  const isOver = state.status === 'pending' && now >= new Date(state.expiresAt)
  return isOver ? 'expired' : state.status
}
