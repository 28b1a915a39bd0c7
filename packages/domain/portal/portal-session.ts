import { portalPermissions } from '../../contract/access/callers.ts'
import { literals, nullable, record, Timestamp, Type, Uuid } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { sealedFor, stored, type EventsOf } from '../../kernel/event-types.ts'
import type { MerchantOwner } from '../../kernel/owner.ts'
import { personal } from '../../kernel/personal.ts'

// Events

export const portalSessionEvents = {
  PortalSessionCreated: sealedFor(
    ({ customer }) => `customer/${customer}`,
    stored(
      1,
      record({
        customer: Uuid,
        /** SHA-256 of the token in hex. Sealed for the customer: whoever is erased has no portal any more. */
        hash: personal(Type.String()),
        permissions: Type.Array(literals(...portalPermissions)),
        returnUrl: personal(nullable(Type.String())),
        expiresAt: Timestamp,
      }),
    ),
  ),
}

export type PortalSessionEvents = EventsOf<typeof portalSessionEvents>

// State

type Created = PortalSessionEvents['PortalSessionCreated']

export interface ExistingPortal extends Readonly<Created>, MerchantOwner {
  readonly createdAt: string
}

/** It is over when it has expired, which nothing has to say. */
export type PortalSession = { readonly status: 'none' } | ({ readonly status: 'created' } & ExistingPortal)

// Decisions

/** Domain model 1.3. */
const openMs = 60 * 60_000

export type PortalSessionCommands = { OpenPortal: Omit<Created, 'expiresAt'> }

export const portalSession: Decider<PortalSession, PortalSessionCommands, PortalSessionEvents> = {
  category: 'portal_session',
  perOperation: true,
  time: 'real',
  events: portalSessionEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    OpenPortal(opened, { status }, { now }) {
      if (status !== 'none') return []
      const expiresAt = new Date(now.getTime() + openMs).toISOString()
      return [{ type: 'PortalSessionCreated', data: { ...opened, expiresAt } }]
    },
  },

  evolve: {
    PortalSessionCreated: (_, created, { merchant, livemode, at }) => {
      return { ...created, status: 'created', merchant, livemode, createdAt: at }
    },
  },
}

export function isOver({ expiresAt }: ExistingPortal, now: Date): boolean {
  return now.toISOString() >= expiresAt
}
