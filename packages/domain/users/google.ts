import { refuse } from '../../contract/refusals.ts'
import { nullable, record, Type } from '../../contract/vocabulary.ts'
import type { Context } from '../../kernel/decider.ts'
import { sealedFor, stored, type EventsOf } from '../../kernel/event-types.ts'
import type { UserOwner } from '../../kernel/owner.ts'
import { personal } from '../../kernel/personal.ts'

const aboutUser = (_: object, id: string) => `user/${id}`
const Held = record({ claim: Type.String(), hold: Type.String() })

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
type Held = GoogleEvents['UserGoogleConnected']['held'][number]

// State

export interface Google {
  readonly google: { readonly email: string | null; readonly claim: string | undefined } | null
  readonly held: readonly Held[]
  readonly abandoned: readonly string[]
}

/** What signs a user in. A mailed link does too, but only while the mailbox is the user's. */
interface WaysIn extends Google {
  readonly password: string | null
  readonly passkeys: readonly object[]
}

export const noGoogle = { google: null }

export function waysIn({ password, passkeys, google }: WaysIn): number {
  return Number(password !== null) + passkeys.length + Number(google !== null)
}

// Decisions, of a user who exists

export type GoogleCommands = {
  ConnectGoogle: GoogleEvents['UserGoogleConnected']
  DisconnectGoogle: object
}

type Decision<Type extends keyof GoogleCommands> = (
  command: GoogleCommands[Type],
  state: WaysIn,
  context: Context<UserOwner>,
) => readonly {
  [Name in keyof GoogleEvents]: { type: Name; data: GoogleEvents[Name] }
}[keyof GoogleEvents][]

export const decideGoogle: { readonly [Type in keyof GoogleCommands]: Decision<Type> } = {
  ConnectGoogle(connected, { google, abandoned }) {
    if (google && google.claim === connected.held[0]?.claim) return []
    if (google) refuse('google_must_not_be_connected_yet')
    if (connected.held.some(({ hold }) => abandoned.includes(hold))) refuse('resource_must_not_have_changed')
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
  const freed = held.filter(({ claim }) => claim === google?.claim)
  return google ? [{ type: 'UserGoogleDisconnected' as const, data: { freed } }] : []
}

export const evolveGoogle = {
  UserGoogleConnected: <S extends Google>(
    state: S,
    { email, held }: GoogleEvents['UserGoogleConnected'],
  ): S => ({
    ...state,
    google: { email, claim: held[0]?.claim },
    held: [...state.held, ...held],
  }),
  UserGoogleDisconnected: <S extends Google>(
    state: S,
    { freed }: GoogleEvents['UserGoogleDisconnected'],
  ): S => ({
    ...state,
    google: null,
    held: state.held.filter(({ claim }) => !freed.some((one) => one.claim === claim)),
  }),
}
