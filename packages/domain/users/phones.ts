import { refuse } from '../../contract/refusals.ts'
import { nullable, record, Type, Uuid } from '../../contract/vocabulary.ts'
import type { Context } from '../../kernel/decider.ts'
import { sealedFor, stored, type EventsOf } from '../../kernel/event-types.ts'
import type { UserOwner } from '../../kernel/owner.ts'
import { personal } from '../../kernel/personal.ts'

const aboutUser = (_: object, id: string) => `user/${id}`
const Held = record({ claim: Type.String(), hold: Type.String() })

// Events

export const phoneEvents = {
  /** A code goes to the new number; its challenge has the request's id. */
  UserPhoneChangeRequested: sealedFor(
    aboutUser,
    stored(1, record({ request: Uuid, phone: personal(Type.String()) })),
  ),
  UserPhoneChanged: sealedFor(
    aboutUser,
    stored(
      1,
      record({
        /** Which request it was, where a code proved the number. */
        request: nullable(Uuid),
        phone: personal(Type.String()),
        /** Only a number that is proved is this user's alone. */
        isVerified: Type.Boolean(),
        held: Type.Array(Held),
        freed: Type.Array(Held),
      }),
    ),
  ),
  /** At registration, by a code that was sent there. */
  UserPhoneVerified: stored(1, record({})),
}

export type PhoneEvents = EventsOf<typeof phoneEvents>
type Held = PhoneEvents['UserPhoneChanged']['held'][number]

// State

export interface Phones {
  readonly phone: string | null
  readonly phoneVerified: boolean
  readonly phoneChange:
    (PhoneEvents['UserPhoneChangeRequested'] & { readonly status: 'pending' | 'completed' }) | null
  readonly held: readonly Held[]
  readonly abandoned: readonly string[]
}

export const noPhoneChange = { phoneVerified: false, phoneChange: null }

// Decisions, of a user who exists

export type PhoneCommands = {
  RequestPhoneChange: PhoneEvents['UserPhoneChangeRequested']
  /**
   * `held`: the claim of the new number, none where nothing proves it. `replaces`: that of the old one,
   * `from`.
   */
  ChangePhone: {
    phone: string
    held: readonly Held[]
    replaces: string
    from: string | null
    request?: string
  }
}

type Decision<Type extends keyof PhoneCommands> = (
  command: PhoneCommands[Type],
  state: Phones,
  context: Context<UserOwner>,
) => readonly {
  [Name in keyof PhoneEvents]: { type: Name; data: PhoneEvents[Name] }
}[keyof PhoneEvents][]

export const decidePhones: { readonly [Type in keyof PhoneCommands]: Decision<Type> } = {
  RequestPhoneChange: (asked, { phoneChange }) =>
    phoneChange?.request === asked.request ? [] : [{ type: 'UserPhoneChangeRequested', data: asked }],

  ChangePhone({ phone, held, replaces, from, request }, state) {
    const { phoneChange } = state
    if (request !== undefined && phoneChange?.request !== request) refuse('resource_must_exist')
    if (request !== undefined && phoneChange?.status !== 'pending') refuse('resource_state_must_allow_it')
    if (held.some(({ hold }) => state.abandoned.includes(hold))) refuse('resource_must_not_have_changed')
    const isVerified = request !== undefined
    if (phone === state.phone && !isVerified) return []
    if (from !== state.phone) refuse('resource_must_not_have_changed')
    const isKept = held.some(({ claim }) => claim === replaces)
    const freed = isKept ? [] : state.held.filter(({ claim }) => claim === replaces)
    const data = { request: request ?? null, phone, isVerified, held: [...held], freed }
    return [{ type: 'UserPhoneChanged', data }]
  },
}

export const evolvePhones = {
  UserPhoneChangeRequested: <S extends Phones>(
    state: S,
    asked: PhoneEvents['UserPhoneChangeRequested'],
  ): S => ({ ...state, phoneChange: { ...asked, status: 'pending' } }),
  UserPhoneChanged: <S extends Phones>(
    state: S,
    { request, phone, isVerified, held, freed }: PhoneEvents['UserPhoneChanged'],
  ): S => {
    const { phoneChange } = state
    const gone = [...freed, ...held]
    return {
      ...state,
      phone,
      phoneVerified: isVerified,
      held: [...state.held.filter(({ claim }) => !gone.some((one) => one.claim === claim)), ...held],
      phoneChange:
        phoneChange?.request === request && request !== null
          ? { ...phoneChange, status: 'completed' }
          : phoneChange,
    }
  },
  UserPhoneVerified: <S extends Phones>(state: S): S => ({ ...state, phoneVerified: true }),
}
