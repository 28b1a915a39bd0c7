import { refuse } from '../../contract/refusals.ts'
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

/** Domain model 5.11: these are parts of another organization, the others stand by themselves. */
const partTypes: readonly string[] = ['subsidiary', 'branch', 'franchise']

/** Who founds it owns the merchant that it gets. */
const Founder = record({ user: Uuid, email: personal(Type.String()), currency: Type.String() })

// Events

export const organizationEvents = {
  OrganizationCreated: sealedFor(
    (_, id) => `organization/${id}`,
    stored(
      2,
      record({
        displayName: personal(Type.String()),
        country: Type.String(),
        type: literals(...organizationTypes),
        parent: nullable(Uuid),
        /** Domain model 5.11: an organization owns exactly one merchant. */
        merchant: Uuid,
        /** Null where its merchant was there before, or is created with a user. */
        founder: nullable(Founder),
      }),
      { 1: (old) => ({ ...(old as object), founder: null }) },
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

type Created = OrganizationEvents['OrganizationCreated']

export type OrganizationCommands = {
  CreateOrganization: Omit<Created, 'founder'> & Partial<Pick<Created, 'founder'>>
}

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
    CreateOrganization({ founder = null, ...details }, { status }) {
      if (status !== 'none') return []
      const isPart = partTypes.includes(details.type)
      if (isPart !== (details.parent !== null)) refuse('organization_must_have_the_parent_of_its_type')
      return [{ type: 'OrganizationCreated', data: { ...details, founder } }]
    },
  },

  evolve: {
    OrganizationCreated: (_, details, { at }) => ({ ...details, status: 'active', createdAt: at }),
  },
}
