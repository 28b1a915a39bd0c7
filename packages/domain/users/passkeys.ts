import { refuse } from '../../contract/refusals.ts'
import { nullable, record, Type, Uuid } from '../../contract/vocabulary.ts'
import { sealedFor, stored, type EventsOf } from '../../kernel/event-types.ts'
import { personal } from '../../kernel/personal.ts'
import { isOvertaken, waysIn, type Begun, type Google } from './google.ts'
import { Held, heldOf, holding, refuseAbandoned, type Holding } from './held.ts'
import { aboutUser, withRequest, type Changes, type Decisions, type Requests } from './parts.ts'

const Nickname = personal(nullable(Type.String()))
/** Inferred: nobody has more devices, and browsers are told of all of them. */
export const passkeysMax = 20

// Events

export const passkeyEvents = {
  UserPasskeyRegistered: sealedFor(
    aboutUser,
    stored(
      1,
      record({
        passkey: Uuid,
        /** Its id in the browser, in base64url: unique, so that it finds the user. */
        credential: Type.String(),
        /** COSE, in base64url. */
        publicKey: Type.String(),
        /** Of uses, as far as the device counts them. */
        counter: Type.Integer(),
        transports: Type.Array(Type.String()),
        /** Whether it can be copied to other devices of its owner, and has been. */
        isBackupEligible: Type.Boolean(),
        isBackedUp: Type.Boolean(),
        nickname: Nickname,
        held: Type.Array(Held),
      }),
    ),
  ),
  UserPasskeyUsed: stored(1, record({ passkey: Uuid, counter: Type.Integer(), isBackedUp: Type.Boolean() })),
  UserPasskeyRenamed: sealedFor(aboutUser, stored(1, record({ passkey: Uuid, nickname: Nickname }))),
  UserPasskeyRemoved: stored(1, record({ passkey: Uuid, freed: Type.Array(Held) })),
}

export type PasskeyEvents = EventsOf<typeof passkeyEvents>
type Registered = PasskeyEvents['UserPasskeyRegistered']

// State

export interface Passkey extends Omit<Registered, 'passkey' | 'held'> {
  readonly id: string
  /** What makes its id unique. */
  readonly claim: string | undefined
  readonly createdAt: string
  readonly usedAt: string | null
}

export interface Passkeys extends Holding, Requests {
  readonly passkeys: readonly Passkey[]
}

/** What else signs the user in. */
interface WithOthers extends Passkeys, Google {
  readonly password: string | null
  readonly passwordChanges: number
  readonly undoneAt: string | null
}

export const noPasskeys = { passkeys: [] }

// Decisions, of a user who exists

export type PasskeyCommands = {
  RegisterPasskey: Registered & Begun
  /** That the answer is right for the key is found out outside; copies of a key are found out here. */
  UsePasskey: PasskeyEvents['UserPasskeyUsed']
  RenamePasskey: { passkey: string; nickname: string | null }
  RemovePasskey: { passkey: string }
}

export const decidePasskeys: Decisions<WithOthers, PasskeyCommands, PasskeyEvents> = {
  RegisterPasskey({ from, begunAt, ...registered }, known) {
    const { passkeys, abandoned, requested } = known
    if (requested.includes(registered.passkey)) return []
    if (isOvertaken(known, { from, begunAt })) refuse('challenge_must_be_pending')
    refuseAbandoned(registered.held, { abandoned })
    // The first of two that is removed frees the claim of both.
    const isHeld = ({ claim }: Passkey) => registered.held.some((one) => one.claim === claim)
    if (passkeys.some(isHeld)) refuse('passkey_must_be_new')
    if (passkeys.length >= passkeysMax) refuse('passkeys_must_be_within_the_limit')
    return [{ type: 'UserPasskeyRegistered', data: registered }]
  },

  UsePasskey(used, { passkeys }) {
    const known = passkeys.find(({ id }) => id === used.passkey) ?? refuse('code_must_be_right')
    // A device that counts and shows an old number is a copy, or was copied.
    const counts = known.counter > 0 || used.counter > 0
    if (counts && used.counter <= known.counter) refuse('code_must_be_right')
    return [{ type: 'UserPasskeyUsed', data: used }]
  },

  RenamePasskey({ passkey, nickname }, state) {
    const known = existing(state, passkey)
    return known.nickname === nickname ? [] : [{ type: 'UserPasskeyRenamed', data: { passkey, nickname } }]
  },

  RemovePasskey({ passkey }, state) {
    const known = existing(state, passkey)
    if (waysIn(state) === 1) refuse('user_must_keep_a_way_to_sign_in')
    return [removalOf(known, state)]
  },
}

/** It goes, and its id is free again. */
export function removalOf({ id: passkey, claim }: Passkey, known: Pick<Holding, 'held'>) {
  return { type: 'UserPasskeyRemoved' as const, data: { passkey, freed: heldOf(known, claim) } }
}

function existing({ passkeys }: Passkeys, passkey: string): Passkey {
  return passkeys.find(({ id }) => id === passkey) ?? refuse('resource_must_exist')
}

export const passkeyChanges: Changes<Passkeys, PasskeyEvents> = {
  UserPasskeyRegistered: (state, { passkey: id, held, ...made }, { at }) => ({
    passkeys: [...state.passkeys, { id, claim: held[0]?.claim, ...made, createdAt: at, usedAt: null }],
    ...holding(state, { added: held }),
    ...withRequest(state, id),
  }),
  UserPasskeyUsed: (state, { passkey, ...used }, { at }) =>
    withPasskey(state, passkey, { ...used, usedAt: at }),
  UserPasskeyRenamed: (state, { passkey, nickname }) => withPasskey(state, passkey, { nickname }),
  UserPasskeyRemoved: (state, { passkey, freed }) => ({
    passkeys: state.passkeys.filter(({ id }) => id !== passkey),
    ...holding(state, { freed }),
  }),
}

function withPasskey({ passkeys }: Passkeys, passkey: string, change: Partial<Passkey>) {
  return { passkeys: passkeys.map((one) => (one.id === passkey ? { ...one, ...change } : one)) }
}
