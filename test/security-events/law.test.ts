import t from 'tap'
import { apiKey } from '../../packages/domain/api-keys/api-key.ts'
import { challenge } from '../../packages/domain/challenges/challenge.ts'
import { invitation } from '../../packages/domain/invitations/invitation.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { organization } from '../../packages/domain/organizations/organization.ts'
import { userSessions } from '../../packages/domain/sessions/user-sessions.ts'
import { signInGuard } from '../../packages/domain/sign-in/sign-in-guard.ts'
import { tokenKeys } from '../../packages/domain/sign-in/token-keys.ts'
import { user } from '../../packages/domain/users/user.ts'
import type { AnyDecider } from '../../packages/kernel/decider.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import { storedTypes } from '../../packages/domain/index.ts'
import { securityEvents } from '../../projections/security-events.ts'
import { lawOver } from '../support/law.ts'
import { schemaExample } from '../support/schemas/schema-example.ts'

const deciders: readonly AnyDecider[] = [
  ...[user, userSessions, challenge, signInGuard, tokenKeys],
  ...[apiKey, organization, invitation, merchant],
] as never

/** What stands in no history of a user, each with the reason why not. */
const untold: Readonly<Record<string, string>> = {
  UserHoldAbandoned: 'nobody has got the address',
  UserEmailHeldAnew: 'the address stays what it was',
  UserLinkMailed: 'the request for the link is told',
  UserEmailChangeMailed: 'the request for the change is told',
  UserNoticeMailed: 'what it is about is told',
  UserPreviousEmailTold: 'the change is told',
  UserOnboardingProgressed: 'a tour of the dashboard',
  SessionRefreshed: 'every quarter of an hour; the list of sessions shows the last time and place',
  SessionReuseTold: 'the end of the session is told',
  ChallengeCodeSent: 'the challenge is told',
  ApiKeyUsed: 'once a day; the key shows it',
  SignInMailRequested: 'what is mailed stands in the stream of the user',
  SignInCodeRequested: 'the same before there were purposes',
  SignInLinkRequested: 'the link stands in the stream of the user, if somebody has the address',
  TokenKeyRetired: 'a key of the service: the sessions that end are told',
  SignInPassed: 'it takes the failure back, and the session is told in its place',
  TokenKeyMade: 'nobody’s',
  TokenKeyResealed: 'nobody’s',
  OrganizationCreated: 'its founder becomes the owner of its merchant, which is told',
  InvitationSent: 'of somebody else’s address; in the history of the invitation',
  InvitationMailed: 'the same',
  InvitationRevoked: 'the same',
  InvitationExpired: 'the same',
  InvitationAccepted: 'whoever accepts becomes a member, which is told',
  MerchantCreated: 'about the merchant: `ikw audit` and its own streams',
  MerchantOrganized: 'the same',
  MerchantSuspended: 'the same; each request that is refused for it says so',
  MerchantActivated: 'the same',
  MerchantOpenedToLive: 'the same; the steps of the onboarding show it',
}

const types = deciders.flatMap(({ category, events }) =>
  Object.keys(events).map((type) => [category, type] as const),
)

const person = '0190a1b2-0000-7000-8000-000000000007'

/** An event as it is read from the log, of which this person is owner, subject and actor. */
function sampleOf(category: string, type: string): RecordedEvent<object, never> {
  const data = schemaExample(storedTypes[type]!.schema) as object
  const about = 'user' in data ? { ...data, user: person } : data
  const metadata = { user: person, actor: `user:${person}`, at: '2026-01-01T12:00:00.000Z', correlation: 'c' }
  return { id: person, category, type, data: about, metadata, position: 1, eventId: 'e' } as never
}

t.test('what happens to somebody’s access is in their history, or has a reason not to be', async (t) => {
  const on = securityEvents.on as Readonly<Record<string, (event: object) => readonly object[]>>
  await lawOver(t, types, ([category, type]) => {
    const changes = on[type]?.(sampleOf(category, type)) ?? []
    const isTold = changes.some(
      (change) => 'put' in change && (change.put as { user: string }).user === person,
    )
    t.equal(isTold, !(type in untold), `${type} is told to its user, or has a reason in this test`)
  })
  const known = new Set<string>(types.map(([, type]) => type))
  t.strictSame(
    Object.keys(untold).filter((type) => !known.has(type)),
    [],
    'nothing is excused that is not there',
  )
})
