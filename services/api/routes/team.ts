import { history, perform, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { acceptanceExamples, invitationExamples } from '../../../packages/domain/invitations/examples.ts'
import {
  Acceptance,
  InvitationRequest,
  InvitationResource,
  RemovedMember,
  TeamQuery,
  TeamResource,
  TeamRoles,
  viewInvitation,
} from '../../../packages/domain/invitations/resource.ts'
import { invitations } from '../../../projections/invitations.ts'
import { merchants } from '../../../projections/merchants.ts'
import { acceptInvitation } from '../actions/organizations/invitations.ts'
import { invite, removeFromTeam, showTeam, standingOf } from '../actions/organizations/team.ts'
import { ChallengeOrSession } from './auth-factors.ts'

const ofUsers = { credentials: ['user'], environment: 'either' } as const
const reads = { ...ofUsers, scope: 'team.read' } as const
const writes = { ...ofUsers, scope: 'team.write' } as const
const invited = {
  ...reads,
  params: { id: 'invitation' },
  from: invitations,
  view: viewInvitation,
  returns: InvitationResource,
} as const

const rows = [
  perform('GET /api/v1/merchant/team', {
    ...reads,
    summary: 'Members and open invitations, newest first; one is open as long as who sent it may invite',
    query: TeamQuery,
    returns: TeamResource,
    action: showTeam,
  }),

  history('GET /api/v1/merchant/team/history', {
    ...reads,
    summary: 'Every event of the merchant, with time and actor, and who came, went or became what by it',
    subject: ({ merchant }) => merchant,
    from: merchants,
    view: (_, state) => (state.status === 'none' ? undefined : state.members),
    returns: TeamRoles,
  }),

  perform('POST /api/v1/merchant/team/invite', {
    ...writes,
    summary:
      'Invite somebody by mail, with a verified address; the link works once, for seven days or until the next one',
    body: InvitationRequest,
    examples: invitationExamples,
    status: 201,
    location: '/api/v1/merchant/team/invitations/{id}',
    returns: InvitationResource,
    refusals: ['email_must_be_verified', 'user_must_not_be_a_member_yet', 'invitations_must_not_be_too_many'],
    action: invite,
  }),

  show('GET /api/v1/merchant/team/invitations/{id}', {
    ...invited,
    beside: standingOf,
    view: (id, state, { now, isBacked }) => viewInvitation(id, state, now, isBacked),
    summary: 'Where an invitation stands',
    inferred: true,
  }),

  history('GET /api/v1/merchant/team/invitations/{id}/history', invited),

  perform('DELETE /api/v1/merchant/team/{id}', {
    ...writes,
    summary: 'Remove a member, whose sessions for this merchant end at once, or revoke an invitation',
    params: { id: ['invitation', 'user'] },
    returns: RemovedMember,
    refusals: ['merchant_must_keep_an_owner', 'member_must_not_outrank_the_caller'],
    action: removeFromTeam,
  }),

  perform('POST /api/v1/invitations/accept', {
    scope: 'public',
    summary: 'Join a merchant with the token of the mail; who is new gives a password and a name',
    body: Acceptance,
    examples: acceptanceExamples,
    returns: ChallengeOrSession,
    showsSecret: true,
    refusals: [
      'token_must_be_valid',
      'invitation_must_be_open',
      'user_must_not_be_a_member_yet',
      'email_must_be_free',
      'password_must_be_hard_to_guess',
    ],
    action: acceptInvitation,
  }),
]

export const teamRoutes = section(
  'Team',
  'Who works for a merchant, and as what. Nobody is invited as an owner, and the last owner stays.',
  rows,
)
