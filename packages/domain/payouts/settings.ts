import { derivedId } from '../../contract/identity.ts'
import {
  CountMinor,
  literals,
  nullable,
  record,
  Timestamp,
  Type,
  type Static,
} from '../../contract/vocabulary.ts'
import type { Context, Decider, Message } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'

export const Frequency = literals('manual', 'daily', 'weekly', 'monthly')

export type Frequency = Static<typeof Frequency>

const choices = {
  frequency: Frequency,
  keepMinimumBalance: Type.Boolean(),
  minimumBalance: CountMinor,
  defaultDestination: nullable(Type.String()),
}

export const payoutSettingsEvents = {
  PayoutSettingsRevised: stored(
    1,
    record({ merchant: Type.String(), livemode: Type.Boolean(), ...choices, at: Timestamp }),
  ),
}

export type PayoutSettingsEvents = EventsOf<typeof payoutSettingsEvents>

const Choices = record(choices)
type Choices = Static<typeof Choices>

/** The times are null for a merchant who has never chosen anything. */
export interface PayoutSettings extends Readonly<Choices> {
  readonly createdAt: string | null
  readonly revisedAt: string | null
}

export type PayoutSettingsCommands = {
  /** The default destination has been found usable by whoever sends this. */
  RevisePayoutSettings: Partial<Choices>
  /** A destination was saved as the default at that time; what the merchant has chosen since outweighs it. */
  AdoptDefaultDestination: { destination: string; savedAt: string }
  ForgetDestination: { destination: string }
}

export const payoutSettings: Decider<PayoutSettings, PayoutSettingsCommands, PayoutSettingsEvents> = {
  category: 'payout_settings',
  events: payoutSettingsEvents,
  initial: () => ({
    frequency: 'manual',
    keepMinimumBalance: false,
    minimumBalance: 0,
    defaultDestination: null,
    createdAt: null,
    revisedAt: null,
  }),

  decide: {
    RevisePayoutSettings: (revision, state, context) => revised(state, revision, context),

    AdoptDefaultDestination({ destination, savedAt }, state, context) {
      if (state.revisedAt !== null && state.revisedAt >= savedAt) return []
      return revised(state, { defaultDestination: destination }, context)
    },

    ForgetDestination({ destination }, state, context) {
      if (state.defaultDestination !== destination) return []
      return revised(state, { defaultDestination: null }, context)
    },
  },

  evolve: {
    PayoutSettingsRevised: ({ createdAt }, { at, merchant: _merchant, livemode: _livemode, ...chosen }) => ({
      ...chosen,
      createdAt: createdAt ?? at,
      revisedAt: at,
    }),
  },
}

const settingsIds = '5d1b4a1e-0a0c-5e0f-8d53-7c6f0d2b9e41'

/** One stream for each merchant and environment. */
export function payoutSettingsId(merchant: string, livemode: boolean): string {
  return derivedId(settingsIds, `${merchant} ${livemode}`)
}

function revised(state: PayoutSettings, revision: Partial<Choices>, { merchant, livemode, now }: Context) {
  const { frequency, keepMinimumBalance, minimumBalance, defaultDestination } = { ...state, ...revision }
  const next = { frequency, keepMinimumBalance, minimumBalance, defaultDestination }
  if (Object.entries(next).every(([name, value]) => state[name as keyof Choices] === value)) return []
  const event: Message<PayoutSettingsEvents> = {
    type: 'PayoutSettingsRevised',
    data: { merchant, livemode, ...next, at: now.toISOString() },
  }
  return [event]
}
