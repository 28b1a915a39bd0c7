import { v7 } from 'uuid'
import { user } from '../../packages/domain/users/user.ts'
import { context, scenarios } from '../support/scenarios.ts'

const [link, newer, hold, session] = [v7(), v7(), v7(), v7()]
const hour = 3_600_000
const later = (ms: number) => new Date(context.now.getTime() + ms)
const [soon, late] = [later(1).toISOString(), later(2).toISOString()]

const details = {
  email: 'awa@example.com',
  name: 'Awa Koné',
  phone: null,
  language: 'fr',
  password: '$argon2id$…',
  held: [{ claim: v7(), hold }],
  merchant: null,
  founded: null,
} as const
const registering = { ...details, held: [...details.held] }
const registered = { type: 'UserRegistered', data: registering } as const
const expiresAt = later(24 * hour).toISOString()
const askedToVerify = { type: 'UserEmailVerificationRequested', data: { link, expiresAt } } as const
const askedAgain = { type: 'UserEmailVerificationRequested', data: { link: newer, expiresAt } } as const
const takenOver = { type: 'UserTakenOver', data: {} } as const
const verified = { type: 'UserEmailVerified', data: {} } as const
const resetBy = (id: string) => ({
  type: 'UserPasswordResetRequested' as const,
  data: { link: id, expiresAt: later(hour).toISOString() },
})
const totpSetup = {
  type: 'UserTotpSetupStarted',
  data: { secretId: v7(), secret: 'secret', expiresAt },
} as const
const totpOn = { type: 'UserTotpEnabled', data: { secretId: totpSetup.data.secretId, step: 1 } } as const
const totpOff = { type: 'UserTotpDisabled', data: {} } as const
const codesOf = (batch: string) => ({
  type: 'UserRecoveryCodesGenerated' as const,
  data: { batch, digests: ['digest'] },
})
const movesBy = (id: string) =>
  ({ type: 'UserEmailChangeRequested', data: { link: id, email: 'new@example.com', expiresAt } }) as const
const callsBy = (request: string) =>
  ({ type: 'UserPhoneChangeRequested', data: { request, phone: '+2250700000001' } }) as const
const passkey = {
  ...{ passkey: link, credential: 'credential', publicKey: 'key', counter: 0, transports: [] },
  ...{ isBackupEligible: true, isBackedUp: true, nickname: null, held: [] },
}
const [{ claim }] = details.held
const moving = {
  ...{ email: 'new@example.com', from: details.email, replaces: claim },
  held: [{ claim: v7(), hold: newer }],
}
const moved = {
  type: 'UserEmailChanged' as const,
  data: {
    ...{ link: null, email: moving.email, previous: details.email, isVerified: false },
    ...{ held: [...moving.held], freed: [...details.held] },
  },
}
const spelled = {
  type: 'UserEmailChanged' as const,
  data: { ...moved.data, email: 'AWA@example.com', isVerified: true, held: [...details.held], freed: [] },
}
const back = { email: details.email, from: moving.email, replaces: moving.held[0]!.claim }
const abandoned = { type: 'UserHoldAbandoned', data: { hold } } as const
const changed = { type: 'UserPasswordChanged', data: { password: 'new', session: null } } as const

scenarios(
  user,
  {
    'a user registers once': { when: { type: 'RegisterUser', data: registering }, then: [registered] },
    'a request that was too slow has lost its address': {
      given: [abandoned],
      when: { type: 'RegisterUser', data: registering },
      then: 'resource_must_not_have_changed',
    },
    'a hold that was taken is not abandoned': {
      given: [registered],
      when: { type: 'AbandonUserHold', data: { hold } },
      then: [],
    },
    'who has left in the meantime gets no link to choose a password': {
      given: [registered, { type: 'UserLeft', data: {} }],
      when: { type: 'RequestPasswordReset', data: { link } },
      then: [],
    },
    'who has left in the meantime gets no link to sign in': {
      given: [registered, { type: 'UserLeft', data: {} }],
      when: { type: 'RequestMagicLink', data: { link } },
      then: [],
    },
    'what was mailed to somebody who has left since is not noted': {
      given: [registered, resetBy(link), { type: 'UserLeft', data: {} }],
      when: { type: 'NoteLinkMailed', data: { purpose: 'reset_password', link } },
      then: [],
    },
    'a mailed link verifies the address, once': {
      given: [registered, askedToVerify],
      when: { type: 'VerifyEmail', data: { link, reset: null } },
      then: [verified],
      again: 'token_must_be_valid',
    },
    'and with a session of its user; without one the account is who has the mailbox’s': {
      given: [registered, askedToVerify],
      when: { type: 'VerifyEmail', data: { link, reset: newer } },
      then: [
        takenOver,
        verified,
        { type: 'UserPasswordRemoved', data: {} },
        {
          type: 'UserPasswordResetRequested',
          data: { link: newer, expiresAt: later(hour).toISOString() },
        },
      ],
      again: 'token_must_be_valid',
    },
    'a link is good for a day, not longer': {
      given: [registered, askedToVerify],
      when: { type: 'VerifyEmail', data: { link, reset: null } },
      then: 'token_must_be_valid',
      context: { now: later(24 * hour) },
    },
    'a verified address needs no other link': {
      given: [registered, askedToVerify, verified],
      when: { type: 'RequestEmailVerification', data: { link: newer } },
      then: 'email_must_not_be_verified_yet',
    },
    'the newest link makes older ones invalid': {
      given: [registered, resetBy(link), resetBy(newer)],
      when: { type: 'ChangePassword', data: { password: 'new', session: null, link } },
      then: 'token_must_be_valid',
    },
    'who was signed in before somebody else changed the password changes it no more': {
      given: [registered, verified, changed],
      when: { type: 'ChangePassword', data: { password: 'newer', session, from: 0 } },
      then: 'resource_must_not_have_changed',
    },
    'a link is bound to its purpose': {
      given: [registered, askedToVerify],
      when: { type: 'ChangePassword', data: { password: 'new', session: null, link } },
      then: 'token_must_be_valid',
    },
    'a mailed link changes the password, once': {
      given: [registered, verified, resetBy(link)],
      when: { type: 'ChangePassword', data: { password: 'new', session: null, link } },
      then: [changed],
      again: 'token_must_be_valid',
    },
    'a repeat of its request makes a link that was used no good again': {
      given: [registered, verified, resetBy(link), changed],
      when: { type: 'RequestPasswordReset', data: { link } },
      then: [],
    },
    'nor one whose place another link has taken': {
      given: [registered, resetBy(link), resetBy(newer)],
      when: { type: 'RequestPasswordReset', data: { link } },
      then: [],
    },
    'a repeat of an older request makes its link no good again': {
      given: [registered, askedToVerify, askedAgain],
      when: { type: 'RequestEmailVerification', data: { link } },
      then: [],
    },
    'nor is an older change of the address the one that waits': {
      given: [registered, movesBy(link), movesBy(newer)],
      when: { type: 'RequestEmailChange', data: { link, email: 'new@example.com' } },
      then: [],
    },
    'nor an older change of the number': {
      given: [registered, callsBy(link), callsBy(newer)],
      when: { type: 'RequestPhoneChange', data: callsBy(link).data },
      then: [],
    },
    'nor an older authenticator the one that is set up': {
      given: [registered, { ...totpSetup, data: { ...totpSetup.data, secretId: link } }, totpSetup],
      when: { type: 'SetUpTotp', data: { secretId: link, secret: 'another secret' } },
      then: [],
    },
    'nor are older recovery codes good again': {
      given: [registered, totpSetup, totpOn, codesOf(link), codesOf(newer)],
      when: { type: 'GenerateRecoveryCodes', data: { batch: link, digests: ['digest'] } },
      then: [],
    },
    'nor a passkey that was removed': {
      given: [
        registered,
        { type: 'UserPasskeyRegistered', data: passkey },
        { type: 'UserPasskeyRemoved', data: { passkey: link, freed: [] } },
      ],
      when: { type: 'RegisterPasskey', data: passkey },
      then: [],
    },
    'where the address was never verified, it also ends what somebody else may have set up': {
      given: [registered, totpSetup, totpOn, resetBy(link)],
      when: { type: 'ChangePassword', data: { password: 'new', session: null, link } },
      then: [takenOver, verified, totpOff, changed],
      again: 'token_must_be_valid',
    },
    'who moves to an address that is verified by then is mailed no link': {
      given: [registered, verified],
      when: { type: 'RequestEmailVerification', data: { link, ifLacking: true } },
      then: [],
    },
    'where the address was never verified, a link to sign in is one for a new password': {
      given: [registered],
      when: { type: 'RequestMagicLink', data: { link } },
      then: [resetBy(link)],
    },
    'an address that was changed meanwhile is not changed': {
      given: [registered],
      when: { type: 'ChangeEmail', data: { ...moving, from: 'other@example.com' } },
      then: 'resource_must_not_have_changed',
    },
    'another spelling of an address frees nothing': {
      given: [registered],
      when: { type: 'ChangeEmail', data: { ...moving, email: 'AWA@example.com', held: [...details.held] } },
      then: [
        {
          type: 'UserEmailChanged',
          data: {
            ...{ link: null, email: 'AWA@example.com', previous: details.email, isVerified: false },
            ...{ held: [...details.held], freed: [] },
          },
        },
      ],
    },
    'another spelling of a proven address is as proven': {
      given: [registered, verified],
      when: { type: 'ChangeEmail', data: { ...moving, email: 'AWA@example.com', held: [...details.held] } },
      then: [spelled],
    },
    'who spells an address otherwise has not left its mailbox, which undoes what was added': {
      given: [
        registered,
        verified,
        { ...spelled, at: soon },
        { ...totpSetup, at: soon },
        { ...totpOn, at: late },
      ],
      when: { type: 'UndoFactors', data: { since: context.now.toISOString() } },
      then: [{ type: 'UserFactorsUndone', data: { since: context.now.toISOString() } }, totpOff],
      again: 'token_must_be_valid',
    },
    'who comes back to an address before it is free is refused: it would be free afterwards': {
      given: [registered, moved],
      when: { type: 'ChangeEmail', data: { ...back, held: [...details.held] } },
      then: 'resource_must_not_have_changed',
    },
    'who comes back to an address that was free meanwhile holds it anew': {
      given: [registered, moved],
      when: { type: 'ChangeEmail', data: { ...back, held: [{ claim, hold: session }] } },
      then: [
        {
          type: 'UserEmailChanged',
          data: {
            ...{ link: null, email: details.email, previous: moving.email, isVerified: false },
            ...{ held: [{ claim, hold: session }], freed: [...moving.held] },
          },
        },
      ],
    },
    'who changes the password otherwise makes a mailed link for it invalid': {
      given: [registered, resetBy(link), { type: 'UserPasswordChanged', data: { password: 'own', session } }],
      when: { type: 'ChangePassword', data: { password: 'new', session: null, link } },
      then: 'token_must_be_valid',
    },
    'a mail is noted once': {
      given: [registered, resetBy(link)],
      when: { type: 'NoteLinkMailed', data: { purpose: 'reset_password', link } },
      then: [{ type: 'UserLinkMailed', data: { purpose: 'reset_password', link } }],
    },
    'a mail with a link that a newer one has replaced leaves that one to be mailed': {
      given: [registered, resetBy(link), resetBy(newer)],
      when: { type: 'NoteLinkMailed', data: { purpose: 'reset_password', link } },
      then: [],
    },
  },
  { user: v7() },
)
