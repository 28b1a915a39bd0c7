import { refuse } from '../../contract/refusals.ts'
import { record, Timestamp, Type } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'

// Events

export const merchantEvents = {
  MerchantCreated: stored(
    1,
    record({
      name: Type.String(),
      country: Type.String(),
      currency: Type.String(),
      email: Type.String(),
      at: Timestamp,
    }),
  ),
  MerchantSuspended: stored(1, record({ at: Timestamp, reason: Type.String() })),
}

export type MerchantEvents = EventsOf<typeof merchantEvents>

// State

type Details = MerchantEvents['MerchantCreated']

export type Merchant = { readonly status: 'none' } | (Details & { readonly status: 'active' | 'suspended' })

// Decisions. A merchant's stream belongs to both environments, so its events carry livemode false.

export type MerchantCommands = {
  CreateMerchant: Omit<Details, 'at'>
  SuspendMerchant: { reason: string }
}

export const merchant: Decider<Merchant, MerchantCommands, MerchantEvents> = {
  category: 'merchant',
  events: merchantEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    CreateMerchant(details, { status }, { now }) {
      if (status !== 'none') return []
      return [{ type: 'MerchantCreated', data: { ...details, at: now.toISOString() } }]
    },

    SuspendMerchant({ reason }, { status }, { now }) {
      if (status === 'suspended') return []
      if (status === 'none') refuse('resource_must_exist')
      return [{ type: 'MerchantSuspended', data: { at: now.toISOString(), reason } }]
    },
  },

  evolve: {
    MerchantCreated: (_, details) => ({ ...details, status: 'active' }),
    MerchantSuspended: (state) => ({ ...existing(state), status: 'suspended' }),
  },
}

function existing(state: Merchant): Details {
  if (state.status === 'none') throw new Error('the stream does not start with MerchantCreated')
  return state
}
