import { refuse } from '../../contract/refusals.ts'
import { nullable, record, Type } from '../../contract/vocabulary.ts'
import { sealedFor, stored, type EventsOf } from '../../kernel/event-types.ts'
import { personal } from '../../kernel/personal.ts'
import { Held, heldOf, holding, refuseAbandoned, type Holding } from './held.ts'
import { aboutUser, type Changes, type Decisions } from './parts.ts'

// Events. Which account it is only the claim says, in a form that nobody reads anything from.

export const googleEvents = {
  UserGoogleConnected: sealedFor(
    aboutUser,
    stored(
      1,
      record({
        /** Tells the user which account it is, and proves nothing about the user's own address. */
        email: personal(nullable(Type.String())),
        held: Type.Array(Held),
      }),
    ),
  ),
  UserGoogleDisconnected: stored(1, record({ freed: Type.Array(Held) })),
}

export type GoogleEvents = EventsOf<typeof googleEvents>

// State

export interface Google extends Holding {
  readonly google: {
    readonly email: string | null
    readonly claim: string | undefined
    readonly connectedAt: string
  } | null
}

/** What signs a user in. A mailed link does too, but only while the mailbox is the user's. */
interface WaysIn extends Google {
  readonly password: string | null
  readonly passkeys: readonly object[]
}

interface WithPassword extends WaysIn {
  readonly passwordChanges: number
  readonly undoneAt: string | null
}

export const noGoogle = { google: null }

export function waysIn({ password, passkeys, google }: WaysIn): number {
  return Number(password !== null) + passkeys.length + Number(google !== null)
}

/** Of adding a way to sign in. */
export interface Begun {
  /** How often the password had changed by then. */
  readonly from?: number | undefined
  readonly begunAt?: string | undefined
}

/**
 * Whether the password was changed or factors were undone since: whoever began may be the one against whom
 * that was done, although nothing was added yet.
 */
export function isOvertaken(
  { passwordChanges, undoneAt }: Pick<WithPassword, 'passwordChanges' | 'undoneAt'>,
  { from = passwordChanges, begunAt }: Begun,
): boolean {
  return from !== passwordChanges || (begunAt !== undefined && undoneAt !== null && begunAt <= undoneAt)
}

// Decisions, of a user who exists

export type GoogleCommands = {
  ConnectGoogle: GoogleEvents['UserGoogleConnected'] & Begun
  DisconnectGoogle: object
}

export const decideGoogle: Decisions<WithPassword, GoogleCommands, GoogleEvents> = {
  ConnectGoogle({ from, begunAt, ...connected }, known) {
    const { google, abandoned } = known
    if (google && google.claim === connected.held[0]?.claim) return []
    if (isOvertaken(known, { from, begunAt })) refuse('token_must_be_valid')
    if (google) refuse('google_must_not_be_connected_yet')
    refuseAbandoned(connected.held, { abandoned })
    return [{ type: 'UserGoogleConnected', data: connected }]
  },

  DisconnectGoogle(_, state) {
    if (!state.google) refuse('google_must_be_connected')
    if (waysIn(state) === 1) refuse('user_must_keep_a_way_to_sign_in')
    return disconnectionOf(state)
  },
}

/** The account is free again; nothing where there is none. */
export function disconnectionOf({ google, held }: Pick<Google, 'google' | 'held'>) {
  if (!google) return []
  return [{ type: 'UserGoogleDisconnected' as const, data: { freed: heldOf({ held }, google.claim) } }]
}

export const googleChanges: Changes<Google, GoogleEvents> = {
  UserGoogleConnected: (state, { email, held }, { at }) => ({
    google: { email, claim: held[0]?.claim, connectedAt: at },
    ...holding(state, { added: held }),
  }),
  UserGoogleDisconnected: (state, { freed }) => ({ google: null, ...holding(state, { freed }) }),
}
