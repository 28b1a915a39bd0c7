import type { Role } from '../../contract/access/callers.ts'
import { begun, existing } from '../../contract/existing.ts'
import { refuse } from '../../contract/refusals.ts'
import { mayInvite, roles } from '../../contract/access/roles.ts'
import { literals, nullable, record, Type, Uuid } from '../../contract/vocabulary.ts'
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
  /** Domain model 5.11: the one organization that owns it. Merchants of the command line have none. */
  MerchantOrganized: stored(1, record({ organization: Uuid })),
  /** `link`: of the invitation that was accepted. */
  MerchantMemberAdded: stored(2, record({ user: Uuid, role: literals(...roles), link: nullable(Uuid) }), {
    1: (old) => ({ ...old, link: null }),
  }),
  MerchantMemberRemoved: stored(1, record({ user: Uuid })),
  /** Its users may work in live from now on. */
  MerchantOpenedToLive: stored(1, record({})),
}

export type MerchantEvents = EventsOf<typeof merchantEvents>

// State

interface Details extends Readonly<MerchantEvents['MerchantCreated']> {
  readonly at: string
  readonly organization: string | null
  /** Users and their roles. */
  readonly members: Readonly<Record<string, Role>>
  /** When each of them came. */
  readonly joined: Readonly<Record<string, string>>
  /** Links of invitations by which somebody was admitted, each of which admits once. */
  readonly admitted: readonly string[]
  /** When who could invite was last no longer to, also if they may again. */
  readonly stoppedInviting: Readonly<Record<string, string>>
  readonly isLive: boolean
}

type Existing = Details & { readonly status: 'active' | 'suspended' }
export type Merchant = { readonly status: 'none' } | Existing

// Decisions. A merchant's stream belongs to both environments, so its events carry livemode false.

export type MerchantCommands = {
  CreateMerchant: MerchantEvents['MerchantCreated'] & { organization?: string; owner?: string }
  SuspendMerchant: { reason: string }
  ActivateMerchant: { reason: string }
  OrganizeMerchant: { organization: string }
  /** Gives a member another role, too. */
  AddMember: Omit<MerchantEvents['MerchantMemberAdded'], 'link'>
  /** Who is a member already stays what they are; who was removed since then is not admitted again. */
  AdmitMember: MerchantEvents['MerchantMemberAdded']
  RemoveMember: { user: string }
  OpenToLive: object
}

export const merchant: Decider<Merchant, MerchantCommands, MerchantEvents> = {
  category: 'merchant',
  time: 'real',
  events: merchantEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    CreateMerchant({ organization, owner, ...details }, { status }) {
      if (status !== 'none') return []
      return [
        { type: 'MerchantCreated', data: details },
        ...(organization ? [{ type: 'MerchantOrganized' as const, data: { organization } }] : []),
        ...(owner
          ? [
              {
                type: 'MerchantMemberAdded' as const,
                data: { user: owner, role: 'owner' as const, link: null },
              },
            ]
          : []),
      ]
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

    OrganizeMerchant({ organization }, state) {
      return existing(state).organization ? [] : [{ type: 'MerchantOrganized', data: { organization } }]
    },

    AddMember({ user, role }, state) {
      const { members } = existing(state)
      if (members[user] === role) return []
      if (isLastOwner(members, user)) refuse('merchant_must_keep_an_owner')
      return [{ type: 'MerchantMemberAdded', data: { user, role, link: null } }]
    },

    AdmitMember({ user, role, link }, state) {
      const { members, admitted } = existing(state)
      const isDone = user in members || (link !== null && admitted.includes(link))
      return isDone ? [] : [{ type: 'MerchantMemberAdded', data: { user, role, link } }]
    },

    RemoveMember({ user }, state) {
      const { members } = existing(state)
      if (!(user in members)) refuse('resource_must_exist')
      if (isLastOwner(members, user)) refuse('merchant_must_keep_an_owner')
      return [{ type: 'MerchantMemberRemoved', data: { user } }]
    },

    OpenToLive: (_, state) => (existing(state).isLive ? [] : [{ type: 'MerchantOpenedToLive', data: {} }]),
  },

  evolve: {
    MerchantCreated: (_, details, { at }) => {
      const nobody = { members: {}, joined: {}, admitted: [], stoppedInviting: {} }
      return { ...details, at, status: 'active', organization: null, ...nobody, isLive: false }
    },
    MerchantSuspended: (state) => ({ ...begun(state), status: 'suspended' }),
    MerchantActivated: (state) => ({ ...begun(state), status: 'active' }),
    MerchantOrganized: (state, { organization }) => ({ ...begun(state), organization }),
    MerchantMemberAdded: (state, { user, role, link }, { at }) => {
      const { members, joined, admitted, ...rest } = begun(state)
      return {
        ...rest,
        members: { ...members, [user]: role },
        joined: { [user]: at, ...joined },
        admitted: link === null ? admitted : [...admitted, link],
        stoppedInviting: afterChange(begun(state), { user, role, at }),
      }
    },
    MerchantMemberRemoved: (state, { user }, { at }) => {
      const { [user]: _role, ...members } = begun(state).members
      const { [user]: _at, ...joined } = begun(state).joined
      const stoppedInviting = afterChange(begun(state), { user, at })
      return { ...begun(state), members, joined, stoppedInviting }
    },
    MerchantOpenedToLive: (state) => ({ ...begun(state), isLive: true }),
  },
}

function isLastOwner(members: Existing['members'], user: string): boolean {
  const owners = Object.keys(members).filter((member) => members[member] === 'owner')
  return owners.length === 1 && owners[0] === user
}

interface MemberChange {
  readonly user: string
  /** Left out: none any more. */
  readonly role?: Role
  readonly at: string
}

function afterChange(
  { members, stoppedInviting }: Details,
  { user, role, at }: MemberChange,
): Details['stoppedInviting'] {
  return mayInvite(members[user]) && !mayInvite(role) ? { ...stoppedInviting, [user]: at } : stoppedInviting
}

interface Invited {
  readonly by: string
  readonly sentAt: string
}

/** Whether who has sent an invitation may invite, and could ever since: what has ended never opens again. */
export function isBacked(state: Merchant, { by, sentAt }: Invited): boolean {
  if (state.status === 'none' || !mayInvite(state.members[by])) return false
  const stoppedAt = state.stoppedInviting[by]
  return stoppedAt === undefined || stoppedAt < sentAt
}
