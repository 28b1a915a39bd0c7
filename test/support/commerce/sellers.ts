import { refuse } from '../../../packages/contract/refusals.ts'
import { record, Type } from '../../../packages/contract/vocabulary.ts'
import type { Decider } from '../../../packages/kernel/decider.ts'
import { stored, type EventsOf } from '../../../packages/kernel/event-types.ts'
import { to } from '../../../packages/kernel/policy.ts'
import type { ClaimTaker } from '../../../services/processes/claims.ts'

const Held = record({ claim: Type.String(), hold: Type.String() })

const sellerEvents = {
  TestSellerOpened: stored(1, record({ held: Type.Array(Held) })),
  TestSellerHoldAbandoned: stored(1, record({ hold: Type.String() })),
}

type SellerEvents = EventsOf<typeof sellerEvents>
type Held = SellerEvents['TestSellerOpened']['held'][number]

export interface Seller {
  readonly isOpen: boolean
  readonly held: readonly Held[]
  readonly abandoned: readonly string[]
}

type SellerCommands = {
  OpenSeller: { held: readonly Held[] }
  AbandonSellerHold: { hold: string }
}

/** What docs/claims.md asks of a family, and nothing else. */
export const seller: Decider<Seller, SellerCommands, SellerEvents> = {
  category: 'test_seller',
  events: sellerEvents,
  initial: () => ({ isOpen: false, held: [], abandoned: [] }),

  decide: {
    OpenSeller({ held }, { isOpen, abandoned }) {
      if (isOpen) return []
      if (held.some(({ hold }) => abandoned.includes(hold))) refuse('resource_must_not_have_changed')
      return [{ type: 'TestSellerOpened', data: { held: [...held] } }]
    },
    AbandonSellerHold({ hold }, { held, abandoned }) {
      if (abandoned.includes(hold) || held.some((one) => one.hold === hold)) return []
      return [{ type: 'TestSellerHoldAbandoned', data: { hold } }]
    },
  },

  evolve: {
    TestSellerOpened: (state, { held }) => ({ ...state, isOpen: true, held }),
    TestSellerHoldAbandoned: (state, { hold }) => ({ ...state, abandoned: [...state.abandoned, hold] }),
  },
}

export const sellerTaker: ClaimTaker = {
  decider: seller,
  abandon: (id, { hold }) => to(seller, id, { type: 'AbandonSellerHold', data: { hold } }),
  has: ({ held }: Seller, { hold }) => held.some((one) => one.hold === hold),
}
