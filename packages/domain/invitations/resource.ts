import { listed } from '../../contract/lists/envelope.ts'
import { roles } from '../../contract/access/roles.ts'
import {
  base,
  choice,
  Email,
  literals,
  maybe,
  nameText,
  nullable,
  optional,
  record,
  Timestamp,
  Type,
  unixSeconds,
  Uuid,
  type Static,
} from '../../contract/vocabulary.ts'
import { invitedRoles, statusOf, type Invitation } from './invitation.ts'

const name = Type.String({ minLength: 1, maxLength: 128, description: 'Name of the person' })

// Requests

const GivenName = nameText(128, 'Name of the person')

export const InvitationRequest = record({
  email: Email,
  role: choice(...invitedRoles),
  name: maybe(GivenName),
})

export const Acceptance = record({
  token: Type.String({ minLength: 1, maxLength: 4096, description: 'The token of the mailed link' }),
  password: maybe(
    Type.String({
      minLength: 8,
      maxLength: 256,
      description: 'Required from who has no account, or never confirmed its address',
    }),
  ),
  name: maybe(GivenName),
})

export const TeamQuery = record({
  page: optional(Type.Integer({ minimum: 1, maximum: 100_000, default: 1, description: 'From 1 on' })),
  limit: optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Items of a page' })),
})

// Resources

export const InvitationResource = record({
  ...base('invitation'),
  email: Type.String(),
  name: nullable(name),
  role: { ...literals(...invitedRoles), description: 'What the person will be' },
  status: literals('pending', 'accepted', 'revoked', 'expired'),
  expires_at: Timestamp,
})

export const MemberResource = record({
  ...base('member'),
  user_id: nullable({ ...Uuid, description: 'Null for who has not accepted yet' }),
  email: Type.String(),
  name: nullable(name),
  role: { ...literals(...roles), description: 'What the person is, or will be' },
  status: literals('active', 'invited'),
  joined_at: nullable(Timestamp),
})

export const TeamResource = record({
  ...listed(MemberResource).properties,
  page: Type.Integer(),
  limit: Type.Integer(),
  total_count: Type.Integer(),
})

/** What each user is, by id. */
export const TeamRoles = Type.Record(Type.String(), literals(...roles))

export const RemovedMember = record({
  id: Uuid,
  object: literals('member'),
  deleted: Type.Literal(true),
})

/** `isBacked`: who has sent it may still invite. */
export function viewInvitation(
  id: string,
  state: Invitation,
  now: Date,
  isBacked = true,
): Static<typeof InvitationResource> | undefined {
  if (state.status === 'none') return undefined
  const { email, role, expiresAt, sentAt } = state
  const status = statusOf(state, now)
  return {
    id,
    object: 'invitation',
    livemode: false,
    created: unixSeconds(sentAt),
    email,
    name: state.name,
    role,
    status: status === 'pending' && !isBacked ? 'revoked' : status,
    expires_at: expiresAt,
  }
}
