import { refuse } from '../../contract/refusals.ts'
import { nullable, record, Type, Uuid } from '../../contract/vocabulary.ts'
import { sealedFor, stored, type EventsOf } from '../../kernel/event-types.ts'
import { personal } from '../../kernel/personal.ts'
import { Held, heldOf, holding, refuseAbandoned, type Holding } from './held.ts'
import { aboutUser, withRequest, type Changes, type Decisions, type Requests } from './parts.ts'

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

// State

export interface Phones extends Holding, Requests {
  readonly phone: string | null
  readonly phoneVerified: boolean
  readonly phoneChange:
    (PhoneEvents['UserPhoneChangeRequested'] & { readonly status: 'pending' | 'completed' }) | null
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

export const decidePhones: Decisions<Phones, PhoneCommands, PhoneEvents> = {
  RequestPhoneChange: (asked, { requested }) =>
    requested.includes(asked.request) ? [] : [{ type: 'UserPhoneChangeRequested', data: asked }],

  ChangePhone({ phone, held, replaces, from, request }, state) {
    const { phoneChange } = state
    if (request !== undefined && phoneChange?.request !== request) refuse('resource_must_exist')
    if (request !== undefined && phoneChange?.status !== 'pending') refuse('contact_change_must_be_pending')
    refuseAbandoned(held, state)
    const isVerified = request !== undefined
    if (phone === state.phone && !isVerified) return []
    if (from !== state.phone) refuse('resource_must_not_have_changed')
    const isKept = held.some(({ claim }) => claim === replaces)
    const freed = isKept ? [] : heldOf(state, replaces)
    const data = { request: request ?? null, phone, isVerified, held: [...held], freed }
    return [{ type: 'UserPhoneChanged', data }]
  },
}

export const phoneChanges: Changes<Phones, PhoneEvents> = {
  UserPhoneChangeRequested: (state, asked) => ({
    phoneChange: { ...asked, status: 'pending' },
    ...withRequest(state, asked.request),
  }),
  UserPhoneChanged(state, { request, phone, isVerified, held, freed }) {
    const { phoneChange } = state
    const isDone = phoneChange !== null && phoneChange.request === request
    return {
      phone,
      phoneVerified: isVerified,
      ...holding(state, { freed, added: held }),
      phoneChange: isDone ? { ...phoneChange, status: 'completed' } : phoneChange,
    }
  },
  UserPhoneVerified: () => ({ phoneVerified: true }),
}
