import { v7 } from 'uuid'
import { user, type UserCommands } from '../../packages/domain/users/user.ts'
import { context, scenarios } from '../support/scenarios.ts'

const [link, hold, request, passkey] = [v7(), v7(), v7(), v7()]
const hour = 3_600_000
const later = (ms: number) => new Date(context.now.getTime() + ms)
const email = 'awa@example.com'
const addressHeld = { claim: v7(), hold: v7() }
const held = { claim: v7(), hold }
const phone = '+2250700000001'
const registeredWith = (password: string | null) => ({
  type: 'UserRegistered' as const,
  data: {
    ...{ email, name: 'Awa Koné', phone: null, language: 'fr' as const, password },
    ...{ held: [addressHeld], merchant: null, founded: null },
  },
})
const registered = registeredWith('$argon2id$…')
const verified = { type: 'UserEmailVerified', data: {} } as const
const abandoned = { type: 'UserHoldAbandoned', data: { hold } } as const

// Links and addresses

const asked = {
  type: 'UserEmailChangeRequested',
  data: { link, email: 'new@example.com', expiresAt: later(24 * hour).toISOString() },
} as const
const change = {
  ...{ email: 'new@example.com', from: email, replaces: addressHeld.claim, link },
  held: [held],
}
const changed = {
  type: 'UserEmailChanged',
  data: {
    ...{ link, email: 'new@example.com', previous: email, isVerified: true },
    ...{ held: [held], freed: [addressHeld] },
  },
} as const
const changedEvent = { ...changed, data: { ...changed.data, held: [held], freed: [addressHeld] } }
const magic = {
  type: 'UserMagicLinkRequested',
  data: { link, expiresAt: later(hour / 4).toISOString() },
} as const

// Passkeys

const key = {
  ...{ passkey, credential: 'credential', publicKey: 'key', counter: 5, transports: ['internal'] },
  ...{ isBackupEligible: true, isBackedUp: true, nickname: null, held: [held] },
}
const withKey = { type: 'UserPasskeyRegistered', data: key } as const
const used = (counter: number) => ({ passkey, counter, isBackedUp: true })
const use = (counter: number) => ({ type: 'UsePasskey', data: used(counter) }) as const
const noCounter = { ...withKey, data: { ...key, counter: 0 } }
const removed = { type: 'UserPasskeyRemoved', data: { passkey, freed: [held] } } as const
const removedEvent = { ...removed, data: { passkey, freed: [held] } }
const remove = { type: 'RemovePasskey', data: { passkey } } as const

const begunAt = context.now.toISOString()
const undone = { type: 'UserFactorsUndone', data: { since: begunAt } } as const

// Telephones

const phoneAsked = { type: 'UserPhoneChangeRequested', data: { request, phone } } as const
const takePhone = { phone, held: [held], replaces: v7(), from: null, request }
const phoneChanged = {
  type: 'UserPhoneChanged' as const,
  data: { request, phone, isVerified: true, held: [held], freed: [] },
}
const otherPhone: UserCommands['ChangePhone'] = {
  ...{ phone: '+2250700000002', held: [], replaces: held.claim, from: phone },
}

scenarios(
  user,
  {
    'a link to sign in is requested once': {
      given: [registered, verified],
      when: { type: 'RequestMagicLink', data: { link } },
      then: [magic],
    },
    'a link to sign in is used once': {
      given: [registered, verified, magic],
      when: { type: 'UseMagicLink', data: { link } },
      then: [{ type: 'UserMagicLinkUsed', data: { link } }],
      again: 'token_must_be_valid',
    },
    'an account whose address is verified is nobody else’s to take': {
      given: [registered, verified],
      when: { type: 'TakeOver', data: { password: 'new' } },
      then: [],
    },
    'an address changes by its link, and frees the old one': {
      given: [registered, asked],
      when: { type: 'ChangeEmail', data: change },
      then: [changedEvent],
      again: 'token_must_be_valid',
    },
    'not after a day': {
      given: [registered, asked],
      when: { type: 'ChangeEmail', data: change },
      then: 'token_must_be_valid',
      context: { now: later(24 * hour) },
    },
    'not once it is canceled': {
      given: [registered, asked, { type: 'UserEmailChangeCanceled', data: { link } }],
      when: { type: 'ChangeEmail', data: change },
      then: 'token_must_be_valid',
    },
    'not by a request that was too slow': {
      given: [registered, asked, abandoned],
      when: { type: 'ChangeEmail', data: change },
      then: 'resource_must_not_have_changed',
    },
    'links that went to the old address are worth nothing': {
      given: [
        registered,
        verified,
        asked,
        { ...magic, data: { ...magic.data, link: request } },
        changedEvent,
      ],
      when: { type: 'UseMagicLink', data: { link: request } },
      then: 'token_must_be_valid',
    },

    'a passkey is registered once': {
      given: [registered],
      when: { type: 'RegisterPasskey', data: key },
      then: [withKey],
    },
    'a request for one that was too slow is refused': {
      given: [registered, abandoned],
      when: { type: 'RegisterPasskey', data: key },
      then: 'resource_must_not_have_changed',
    },
    'nor is one that was begun before somebody else took the account over': {
      given: [registered, { type: 'UserTakenOver', data: {} }],
      when: { type: 'RegisterPasskey', data: { ...key, from: 0 } },
      then: 'challenge_must_be_pending',
    },
    'nor is one that was begun before factors were undone': {
      given: [registered, undone],
      when: { type: 'RegisterPasskey', data: { ...key, from: 0, begunAt } },
      then: 'challenge_must_be_pending',
    },
    'one that was begun afterwards is': {
      given: [registered, undone],
      when: { type: 'RegisterPasskey', data: { ...key, from: 0, begunAt: later(1).toISOString() } },
      then: [withKey],
    },
    'a passkey is this user’s once': {
      given: [registered, withKey],
      when: { type: 'RegisterPasskey', data: { ...key, passkey: request } },
      then: 'passkey_must_be_new',
    },
    'one that was removed is not registered again before it is free': {
      given: [registered, withKey, removedEvent],
      when: { type: 'RegisterPasskey', data: { ...key, passkey: request } },
      then: 'resource_must_not_have_changed',
    },
    'a user has twenty passkeys at most': {
      given: [
        registered,
        ...Array.from({ length: 20 }, () => ({ ...withKey, data: { ...key, passkey: v7(), held: [] } })),
      ],
      when: { type: 'RegisterPasskey', data: key },
      then: 'passkeys_must_be_within_the_limit',
    },
    'a counter that has grown is right': {
      given: [registered, withKey],
      when: use(6),
      then: [{ type: 'UserPasskeyUsed', data: used(6) }],
      again: 'code_must_be_right',
    },
    'one that has not is a copy’s': {
      given: [registered, withKey],
      when: use(5),
      then: 'code_must_be_right',
    },
    'a device that does not count is right': {
      given: [registered, noCounter],
      when: use(0),
      then: [{ type: 'UserPasskeyUsed', data: used(0) }],
      again: [{ type: 'UserPasskeyUsed', data: used(0) }],
    },
    'a passkey is removed, and its id is free': {
      given: [registered, withKey],
      when: remove,
      then: [removedEvent],
      again: 'resource_must_exist',
    },
    'the only way to sign in stays': {
      given: [registeredWith(null), withKey],
      when: remove,
      then: 'user_must_keep_a_way_to_sign_in',
    },
    'who has the mailbox removes what somebody else has set up': {
      given: [registered, withKey],
      when: { type: 'TakeOver', data: { password: 'new' } },
      then: [
        { type: 'UserTakenOver', data: {} },
        verified,
        removedEvent,
        { type: 'UserPasswordChanged', data: { password: 'new', session: null } },
      ],
    },

    'a number that is proved becomes the user’s, once': {
      given: [registered, phoneAsked],
      when: { type: 'ChangePhone', data: takePhone },
      then: [phoneChanged],
      again: 'contact_change_must_be_pending',
    },
    'only the newest request proves one': {
      given: [registered, phoneAsked, { ...phoneAsked, data: { ...phoneAsked.data, request: v7() } }],
      when: { type: 'ChangePhone', data: takePhone },
      then: 'resource_must_exist',
    },
    'a number that was changed meanwhile is not changed': {
      given: [registered, phoneAsked, phoneChanged],
      when: { type: 'ChangePhone', data: { ...otherPhone, from: null } },
      then: 'resource_must_not_have_changed',
    },
    'a number that is not proved is nobody’s alone, and frees the old one': {
      given: [registered, phoneAsked, phoneChanged],
      when: { type: 'ChangePhone', data: otherPhone },
      then: [
        {
          type: 'UserPhoneChanged',
          data: { request: null, phone: otherPhone.phone, isVerified: false, held: [], freed: [held] },
        },
      ],
    },
  },
  { user: v7() },
)
