import { refuse } from '../../contract/refusals.ts'
import { record, Timestamp, Type } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
import type { MerchantOwner } from '../../kernel/owner.ts'

/**
 * The endpoints of a merchant and environment that count against its limit. They are counted in a stream of
 * their own, because a count across streams does not hold under concurrent registrations.
 */

const Endpoints = Type.Array(Type.String())

export const webhookRosterEvents = {
  /** `endpoints` were registered before rosters existed. */
  WebhookRosterOpened: stored(1, record({ endpoints: Endpoints, at: Timestamp })),
  WebhookSlotTaken: stored(1, record({ endpoint: Type.String(), at: Timestamp })),
  WebhookSlotsFreed: stored(1, record({ endpoints: Endpoints, at: Timestamp })),
}

export type WebhookRosterEvents = EventsOf<typeof webhookRosterEvents>

interface Slot {
  readonly endpoint: string
  readonly takenAt: string
}

export type WebhookRoster =
  { readonly status: 'none' } | { readonly status: 'open'; readonly slots: readonly Slot[] }

export type WebhookRosterCommands = {
  OpenRoster: { endpoints: readonly string[] }
  TakeSlot: { endpoint: string }
  FreeSlots: { endpoints: readonly string[] }
}

/** Domain model 5.4. */
const slotsMax = 20

export const webhookRoster: Decider<WebhookRoster, WebhookRosterCommands, WebhookRosterEvents> = {
  category: 'webhook_roster',
  events: webhookRosterEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    OpenRoster({ endpoints }, { status }, { now }) {
      if (status === 'open') return []
      return [{ type: 'WebhookRosterOpened', data: { endpoints: [...endpoints], at: now.toISOString() } }]
    },

    TakeSlot({ endpoint }, state, { now }) {
      const slots = slotsOf(state)
      if (slots.some((slot) => slot.endpoint === endpoint)) return []
      if (slots.length >= slotsMax) refuse('webhook_endpoints_must_not_be_too_many')
      return [{ type: 'WebhookSlotTaken', data: { endpoint, at: now.toISOString() } }]
    },

    FreeSlots({ endpoints }, state, { now }) {
      const freed = slotsOf(state).filter(({ endpoint }) => endpoints.includes(endpoint))
      if (freed.length === 0) return []
      const data = { endpoints: freed.map(({ endpoint }) => endpoint), at: now.toISOString() }
      return [{ type: 'WebhookSlotsFreed', data }]
    },
  },

  evolve: {
    WebhookRosterOpened: (_, { endpoints, at }) => ({
      status: 'open',
      slots: endpoints.map((endpoint) => ({ endpoint, takenAt: at })),
    }),
    WebhookSlotTaken: (state, { endpoint, at }) => ({
      status: 'open',
      slots: [...slotsOf(state), { endpoint, takenAt: at }],
    }),
    WebhookSlotsFreed: (state, { endpoints }) => ({
      status: 'open',
      slots: slotsOf(state).filter(({ endpoint }) => !endpoints.includes(endpoint)),
    }),
  },
}

export function webhookRosterId({ merchant, livemode }: MerchantOwner): string {
  return `${merchant}.${livemode ? 'live' : 'test'}`
}

function slotsOf(state: WebhookRoster): readonly Slot[] {
  return state.status === 'open' ? state.slots : []
}
