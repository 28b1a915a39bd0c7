import { v7 } from 'uuid'
import type { UserEvents } from '../../packages/domain/users/events.ts'
import { user } from '../../packages/domain/users/user.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { context, scenarios } from '../support/scenarios.ts'

const [request, secretId] = [v7(), v7()]
const hour = 3_600_000
const later = (ms: number) => new Date(context.now.getTime() + ms)
const [email, other] = ['awa@example.com', 'new@example.com']
const language = 'fr' as const
const registered = {
  type: 'UserRegistered',
  data: {
    ...{ email, name: 'Awa Koné', phone: null, language, password: '$argon2id$…' },
    ...{ held: [], merchant: null, founded: null },
  },
} as const
const setup = {
  type: 'UserTotpSetupStarted',
  data: { secretId, secret: 'secret', expiresAt: later(9 * hour).toISOString() },
} as const
const enabled = { type: 'UserTotpEnabled', data: { secretId, step: 7 } } as const
const disabled = { type: 'UserTotpDisabled', data: {} } as const
const withKey = {
  type: 'UserPasskeyRegistered' as const,
  data: {
    ...{ passkey: v7(), credential: 'credential', publicKey: 'key', counter: 5, transports: ['internal'] },
    ...{ isBackupEligible: true, isBackedUp: true, nickname: null, held: [] },
  },
}
const keyRemoved = { type: 'UserPasskeyRemoved' as const, data: { passkey: withKey.data.passkey, freed: [] } }
const asked = {
  type: 'UserEmailChangeRequested',
  data: { link: request, email: 'third@example.com', expiresAt: later(24 * hour).toISOString() },
} as const
const movedTo = (to: string, previous: string) => ({
  type: 'UserEmailChanged' as const,
  data: { ...{ link: null, email: to, previous, isVerified: false }, ...{ held: [], freed: [] } },
})
const since = (hours: number) => ({ since: later(hours * hour).toISOString() })
const undo = (hours: number) => ({ type: 'UndoFactors', data: since(hours) }) as const
const undone = (hours: number) => ({ type: 'UserFactorsUndone', data: since(hours) }) as const
/** So many hours later. */
const at = (hours: number, ...events: readonly Message<UserEvents>[]) =>
  events.map((event) => ({ ...event, at: later(hours * hour).toISOString() }))
/** A factor was added, and the address left. */
const moved = [...at(0, registered, setup), ...at(1, enabled), ...at(2, movedTo(other, email))]

scenarios(
  user,
  {
    'a mailbox undoes what was added, and all that came after it': {
      given: [...at(0, registered, setup), ...at(1, enabled), ...at(2, withKey, asked)],
      when: undo(1),
      then: [undone(1), disabled, keyRemoved, { type: 'UserEmailChangeCanceled', data: { link: request } }],
      again: 'token_must_be_valid',
      context: { now: later(6 * hour) },
    },
    'one that was left undoes what was added while it was the user’s, and nothing later': {
      given: [...moved, ...at(4, withKey), ...at(5, asked)],
      when: undo(1),
      then: [undone(1), disabled],
      again: 'token_must_be_valid',
      context: { now: later(6 * hour) },
    },
    'and leaves the newer one its own links': {
      given: [...moved, ...at(4, withKey), ...at(6, undone(1), disabled)],
      when: undo(4),
      then: [undone(4), keyRemoved],
      again: 'token_must_be_valid',
      context: { now: later(7 * hour) },
    },
    'what it was told of may be gone': {
      given: [
        ...at(0, registered, setup),
        ...at(1, enabled, disabled),
        ...at(2, movedTo(other, email)),
        ...at(4, withKey),
      ],
      when: undo(1),
      then: 'token_must_be_valid',
      context: { now: later(5 * hour) },
    },
    'a mailbox that the user comes back to undoes nothing of what was while another one was': {
      given: [
        ...at(0, registered, setup),
        ...at(2, movedTo(other, email)),
        ...at(3, enabled),
        ...at(4, movedTo(email, other)),
      ],
      when: undo(1),
      then: 'token_must_be_valid',
      context: { now: later(6 * hour) },
    },
  },
  { user: v7() },
)
