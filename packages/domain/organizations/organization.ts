import { literals, nullable, record, Type, Uuid } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { sealedFor, stored, type EventsOf } from '../../kernel/event-types.ts'
import type { OrganizationOwner } from '../../kernel/owner.ts'
import { personal } from '../../kernel/personal.ts'

export const organizationTypes = [
  'company',
  'subsidiary',
  'branch',
  'franchise',
  'nonprofit',
  'individual',
] as const

// Events

export const organizationEvents = {
  OrganizationCreated: sealedFor(
    (_, id) => `organization/${id}`,
    stored(
      1,
      record({
        displayName: personal(Type.String()),
        country: Type.String(),
        type: literals(...organizationTypes),
        parent: nullable(Uuid),
        /** Domain model 5.11: an organization owns exactly one merchant. */
        merchant: Uuid,
      }),
    ),
  ),
}

export type OrganizationEvents = EventsOf<typeof organizationEvents>

// State

export type Organization =
  | { readonly status: 'none' }
  | (Readonly<OrganizationEvents['OrganizationCreated']> & {
      readonly status: 'active'
      readonly createdAt: string
    })

// Decisions

export type OrganizationCommands = { CreateOrganization: OrganizationEvents['OrganizationCreated'] }

export const organization: Decider<
  Organization,
  OrganizationCommands,
  OrganizationEvents,
  OrganizationOwner
> = {
  category: 'organization',
  owners: ['organization'],
  time: 'real',
  events: organizationEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    CreateOrganization: (details, { status }) =>
      status === 'none' ? [{ type: 'OrganizationCreated', data: details }] : [],
  },

  evolve: {
    OrganizationCreated: (_, details, { at }) => ({ ...details, status: 'active', createdAt: at }),
  },
}
