import { apiKeyEvents } from '../packages/domain/api-keys/api-key.ts'
import { challengeEvents } from '../packages/domain/challenges/challenge.ts'
import { merchantEvents } from '../packages/domain/merchants/merchant.ts'
import { userSessionEvents } from '../packages/domain/sessions/user-sessions.ts'
import type { SignInGuardEvents } from '../packages/domain/sign-in/sign-in-guard.ts'
import { userEvents } from '../packages/domain/users/events.ts'
import type { Owner } from '../packages/kernel/owner.ts'
import { projection, type Change, type RecordedEvent } from '../packages/kernel/projection.ts'

type Event = RecordedEvent<object, Owner>

/** Says whom an event is about; null where it is about nobody who has an account. */
type About = (event: Event) => string | null

const owner: About = ({ metadata }) => ('user' in metadata ? metadata.user : null)
const member: About = ({ data }) => ('user' in data ? String(data.user) : null)
/** Keys are the merchant's: who issued one has it in their history. */
const actor: About = ({ metadata }) => /^user:(.+)$/.exec(metadata.actor)?.[1] ?? null

const everyTypeOf = (events: object, about: About, except: readonly string[] = []) =>
  Object.keys(events)
    .filter((type) => !except.includes(type))
    .map((type) => [type, about] as const)

/** What the service notes for itself, and what changes nothing about who may sign in. */
const notesOfUsers = [
  'UserHoldAbandoned',
  'UserEmailHeldAnew',
  'UserLinkMailed',
  'UserEmailChangeMailed',
  'UserNoticeMailed',
  'UserPreviousEmailTold',
  'UserOnboardingProgressed',
]

/** Every event that tells of somebody's access: signing in, factors, sessions, keys and roles. */
const told: ReadonlyMap<string, About> = new Map([
  ...everyTypeOf(userEvents, owner, notesOfUsers),
  ...everyTypeOf(userSessionEvents, owner, ['SessionRefreshed', 'SessionReuseTold']),
  ...everyTypeOf(challengeEvents, owner, ['ChallengeCodeSent']),
  ...everyTypeOf(apiKeyEvents, actor, ['ApiKeyUsed']),
  ...everyTypeOf({ MerchantMemberAdded: 0, MerchantMemberRemoved: 0 } satisfies Some, member),
])

type Some = Readonly<Partial<Record<keyof typeof merchantEvents, 0>>>

/** Whom a security event is about; `undefined` for any other event. */
export function securityEventAbout(event: Event): string | null | undefined {
  return told.get(event.type)?.(event)
}

function line(event: Event): readonly Change[] {
  const user = securityEventAbout(event) ?? null
  return user === null ? [] : [{ put: shown(event, { id: event.eventId, user, type: event.type }) }]
}

interface Told {
  readonly id: string
  readonly user: string
  readonly type: string
}

/** Without addresses, names and devices, which `GET /api/v1/auth/sessions` shows. */
function shown({ id: subject, category, metadata, position }: Event, told: Told) {
  const { at, actor: by, request = null } = metadata
  const merchant = 'merchant' in metadata ? metadata.merchant : null
  const kind = category === 'user' ? null : category
  return { ...told, at, actor: by, request, merchant, kind, subject: kind && subject, position }
}

/**
 * What a user may read of their own access. A code counts as failed until it has passed, as passwords did
 * once: then the session that it started is shown in its place.
 */
export const securityEvents = projection<SignInGuardEvents, Owner>()({
  name: 'security_events',
  version: 2,
  columns: {
    id: 'text',
    user: 'text',
    type: 'text',
    at: 'timestamptz',
    actor: 'text',
    request: 'text',
    merchant: 'text',
    /** The kind of stream that it happened to, where that is not the user's own. */
    kind: 'text',
    subject: 'text',
    position: 'bigint',
  },
  key: ['id'],
  indexes: [['user', 'position']],
  on: {
    ...Object.fromEntries([...told.keys()].map((type) => [type, line])),
    SignInTried: (event) => {
      const { attempt: id, user } = event.data
      const { position, metadata } = event
      const { at, request = null } = metadata
      const failed = { id, user, type: 'SignInFailed', at, actor: 'public', request, position }
      return user === null ? [] : [{ put: { ...failed, merchant: null, kind: null, subject: null } as never }]
    },
    SignInPassed: ({ data: { attempt: id } }) => [{ remove: { id } }],
    SignInRefused: (event) => {
      const { user } = event.data
      return user === null
        ? []
        : [{ put: shown(event, { id: event.eventId, user, type: event.type }) as never }]
    },
  },
})
