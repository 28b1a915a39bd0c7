import { v7 } from 'uuid'
import { user } from '../../packages/domain/users/user.ts'
import { context, scenarios } from '../support/scenarios.ts'

const [hold, passkey] = [v7(), v7()]
const held = { claim: v7(), hold }
const registeredWith = (password: string | null) => ({
  type: 'UserRegistered' as const,
  data: {
    ...{ email: 'awa@example.com', name: 'Awa Koné', phone: null, language: 'fr' as const, password },
    ...{ held: [{ claim: v7(), hold: v7() }], merchant: null, founded: null },
  },
})
const registered = registeredWith('$argon2id$…')
const verified = { type: 'UserEmailVerified', data: {} } as const
const abandoned = { type: 'UserHoldAbandoned', data: { hold } } as const

const begunAt = context.now.toISOString()
const undone = { type: 'UserFactorsUndone', data: { since: begunAt } } as const

const keyHeld = { claim: v7(), hold: v7() }
const withKey = {
  type: 'UserPasskeyRegistered' as const,
  data: {
    ...{ passkey, credential: 'credential', publicKey: 'key', counter: 5, transports: ['internal'] },
    ...{ isBackupEligible: true, isBackedUp: true, nickname: null, held: [keyHeld] },
  },
}
const keyRemoved = { type: 'UserPasskeyRemoved' as const, data: { passkey, freed: [keyHeld] } }

const account = { email: 'awa@gmail.example', held: [held] }
const withGoogle = { type: 'UserGoogleConnected' as const, data: account }
const connectGoogle = { type: 'ConnectGoogle', data: account } as const
const otherAccount = { email: null, held: [{ claim: v7(), hold: v7() }] }
const disconnectGoogle = { type: 'DisconnectGoogle', data: {} } as const
const disconnected = { type: 'UserGoogleDisconnected' as const, data: { freed: [held] } }

scenarios(
  user,
  {
    'a Google account is connected once': {
      given: [registered],
      when: connectGoogle,
      then: [withGoogle],
      again: [],
    },
    'a user has one Google account': {
      given: [registered, withGoogle],
      when: { type: 'ConnectGoogle', data: otherAccount },
      then: 'google_must_not_be_connected_yet',
    },
    'a Google account whose hold was given up is not connected': {
      given: [registered, abandoned],
      when: connectGoogle,
      then: 'resource_must_not_have_changed',
    },
    'nor is one that was disconnected, and is not free yet': {
      given: [registered, withGoogle, disconnected],
      when: connectGoogle,
      then: 'resource_must_not_have_changed',
    },
    'nor is one that was begun before somebody else took the account over': {
      given: [registered, { type: 'UserTakenOver', data: {} }],
      when: { type: 'ConnectGoogle', data: { ...account, from: 0 } },
      then: 'token_must_be_valid',
    },
    'nor is one that was begun before factors were undone': {
      given: [registered, undone],
      when: { type: 'ConnectGoogle', data: { ...account, from: 0, begunAt } },
      then: 'token_must_be_valid',
    },
    'a Google account is disconnected, and free': {
      given: [registered, withGoogle],
      when: disconnectGoogle,
      then: [disconnected],
      again: 'google_must_be_connected',
    },
    'a Google account that is the only way to sign in stays': {
      given: [registeredWith(null), withGoogle],
      when: disconnectGoogle,
      then: 'user_must_keep_a_way_to_sign_in',
    },
    'with Google the last passkey may go': {
      given: [registeredWith(null), withGoogle, withKey],
      when: { type: 'RemovePasskey', data: { passkey } },
      then: [keyRemoved],
      again: 'resource_must_exist',
    },
    'who has the mailbox disconnects what somebody else has connected': {
      given: [registered, withGoogle],
      when: { type: 'TakeOver', data: { password: 'new' } },
      then: [
        { type: 'UserTakenOver', data: {} },
        verified,
        disconnected,
        { type: 'UserPasswordChanged', data: { password: 'new', session: null } },
      ],
    },
  },
  { user: v7() },
)
