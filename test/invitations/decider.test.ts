import { v7 } from 'uuid'
import { invitation } from '../../packages/domain/invitations/invitation.ts'
import { context, scenarios } from '../support/scenarios.ts'

const [link, newer, user, by] = [v7(), v7(), v7(), v7()]
const minute = 60_000
const week = 7 * 24 * 60 * minute
const at = (ms: number) => new Date(context.now.getTime() + ms)

const terms = { email: 'ibra@example.com', name: 'Ibra', role: 'developer', language: 'fr', by } as const
const invite = (id: string, isLimited = true) => ({
  type: 'Invite' as const,
  data: { ...terms, link: id, isLimited },
})
const sent = (id: string, ms = 0) => ({
  type: 'InvitationSent' as const,
  data: { ...terms, link: id, expiresAt: at(ms + week).toISOString() },
  at: at(ms).toISOString(),
})
const told = ({ type, data }: ReturnType<typeof sent>) => ({ type, data })
const revoked = { type: 'InvitationRevoked', data: {} } as const
const expired = { type: 'InvitationExpired', data: {} } as const
const accepted = { type: 'InvitationAccepted', data: { user, role: 'developer', link } } as const
const accept = (id: string, who = user) => ({
  type: 'AcceptInvitation' as const,
  data: { link: id, user: who },
})
const revoke = { type: 'RevokeInvitation', data: {} } as const
const expire = { type: 'ExpireInvitation', data: {} } as const

scenarios(invitation, {
  'an address is invited': { when: invite(link), then: [told(sent(link))] },
  'who is invited again gets another mail, which takes the place of the first': {
    given: [sent(link)],
    when: invite(newer),
    then: [told(sent(newer))],
  },
  'the mail of an invitation that was sent again is not accepted': {
    given: [sent(link), sent(newer)],
    when: accept(link),
    then: 'token_must_be_valid',
  },
  'a repeat of the first request leaves the newer one as it is': {
    given: [sent(link), sent(newer)],
    when: invite(link),
    then: [],
  },
  'one that was revoked takes another one': {
    given: [sent(link), revoked],
    when: invite(newer),
    then: [told(sent(newer))],
  },
  'an address gets at most five an hour': {
    given: [1, 2, 3, 4, 5].flatMap(() => [sent(v7()), revoked]),
    when: invite(newer),
    then: 'rate_must_be_within_the_limit',
    context: { now: at(59 * minute) },
  },
  'and more after that hour': {
    given: [1, 2, 3, 4, 5].flatMap(() => [sent(v7()), revoked]),
    when: invite(newer),
    then: [told(sent(newer, 60 * minute))],
    context: { now: at(60 * minute) },
  },
  'an invitation is accepted once': { given: [sent(link)], when: accept(link), then: [accepted] },
  'nobody else accepts it then': {
    given: [sent(link), accepted],
    when: accept(link, by),
    then: 'token_must_be_valid',
  },
  'the newest mail makes older ones invalid': {
    given: [sent(link), revoked, sent(newer)],
    when: accept(link),
    then: 'token_must_be_valid',
  },
  'a revoked invitation is not accepted': {
    given: [sent(link), revoked],
    when: accept(link),
    then: 'invitation_must_be_open',
  },
  'nor one of a week ago': {
    given: [sent(link)],
    when: accept(link),
    then: 'invitation_must_be_open',
    context: { now: at(week) },
  },
  'an open one is revoked': {
    given: [sent(link)],
    when: revoke,
    then: [revoked],
    again: 'resource_must_exist',
  },
  'one that was sent again is not, for who has sent the one before': {
    given: [sent(link), sent(newer)],
    when: { type: 'RevokeInvitation', data: { link } },
    then: [],
  },
  'one that was accepted is not': {
    given: [sent(link), accepted],
    when: revoke,
    then: 'resource_must_exist',
  },
  'it expires after a week': {
    given: [sent(link)],
    when: expire,
    then: [expired],
    context: { now: at(week) },
  },
  'and not before': { given: [sent(link)], when: expire, then: [], context: { now: at(week - 1) } },
  'one that was accepted never does': {
    given: [sent(link), accepted],
    when: expire,
    then: [],
    context: { now: at(week) },
  },
})
