import { refuse } from '../../contract/refusals.ts'
import { record, Type } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { sealedFor, stored, withoutStamp, type EventsOf } from '../../kernel/event-types.ts'
import { personal } from '../../kernel/personal.ts'

// Events

export const merchantEvents = {
  MerchantCreated: sealedFor(
    (_, id) => `merchant/${id}`,
    stored(
      2,
      record({
        name: personal(Type.String()),
        country: Type.String(),
        currency: Type.String(),
        email: personal(Type.String()),
      }),
      { 1: withoutStamp },
    ),
  ),
  MerchantSuspended: sealedFor(
    (_, id) => `merchant/${id}`,
    stored(2, record({ reason: personal(Type.String()) }), { 1: withoutStamp }),
  ),
  MerchantActivated: sealedFor(
    (_, id) => `merchant/${id}`,
    stored(1, record({ reason: personal(Type.String()) })),
  ),
}

export type MerchantEvents = EventsOf<typeof merchantEvents>

// State

type Details = MerchantEvents['MerchantCreated'] & { readonly at: string }

export type Merchant = { readonly status: 'none' } | (Details & { readonly status: 'active' | 'suspended' })

// Decisions. A merchant's stream belongs to both environments, so its events carry livemode false.

export type MerchantCommands = {
  CreateMerchant: MerchantEvents['MerchantCreated']
  SuspendMerchant: { reason: string }
  ActivateMerchant: { reason: string }
}

export const merchant: Decider<Merchant, MerchantCommands, MerchantEvents> = {
  category: 'merchant',
  time: 'real',
  events: merchantEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    CreateMerchant(details, { status }) {
      if (status !== 'none') return []
      return [{ type: 'MerchantCreated', data: details }]
    },

    SuspendMerchant({ reason }, { status }) {
      if (status === 'suspended') return []
      if (status === 'none') refuse('resource_must_exist')
      return [{ type: 'MerchantSuspended', data: { reason } }]
    },

    ActivateMerchant({ reason }, { status }) {
      if (status === 'none') refuse('resource_must_exist')
      return status === 'active' ? [] : [{ type: 'MerchantActivated', data: { reason } }]
    },
  },

  evolve: {
    MerchantCreated: (_, details, { at }) => ({ ...details, at, status: 'active' }),
    MerchantSuspended: (state) => ({ ...existing(state), status: 'suspended' }),
    MerchantActivated: (state) => ({ ...existing(state), status: 'active' }),
  },
}

function existing(state: Merchant): Details {
  if (state.status === 'none') throw new Error('the stream does not start with MerchantCreated')
  return state
}
