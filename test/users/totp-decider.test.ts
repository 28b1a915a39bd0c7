import { v7 } from 'uuid'
import { user } from '../../packages/domain/users/user.ts'
import { context, scenarios } from '../support/scenarios.ts'

const secretId = v7()
const hour = 3_600_000
const later = (ms: number) => new Date(context.now.getTime() + ms)
const registered = {
  type: 'UserRegistered',
  data: {
    ...{
      email: 'awa@example.com',
      name: 'Awa Koné',
      phone: null,
      language: 'fr' as const,
      password: '$argon2id$…',
    },
    ...{ held: [{ claim: v7(), hold: v7() }], merchant: null, founded: null },
  },
} as const
const setup = {
  type: 'UserTotpSetupStarted',
  data: { secretId, secret: 'secret', expiresAt: later(hour).toISOString() },
} as const
const otherPassword = {
  type: 'UserPasswordChanged',
  data: { password: '$argon2id$…', session: null },
} as const
const undone = { type: 'UserFactorsUndone', data: { since: context.now.toISOString() } } as const
const batch = v7()
const codes = { batch, digests: ['one', 'two'] }
const enabled = { type: 'UserTotpEnabled', data: { secretId, step: 7 } } as const
const generated = { type: 'UserRecoveryCodesGenerated', data: codes } as const
const on = [registered, setup, enabled, generated]
const enable = { type: 'EnableTotp', data: { secretId, step: 7, ...codes } } as const
const useCode = { type: 'UseRecoveryCode', data: { digest: 'one' } } as const
const usedCode = { type: 'UserRecoveryCodeUsed', data: { digest: 'one' } } as const

scenarios(
  user,
  {
    'no code is taken twice': {
      given: on,
      when: { type: 'UseTotp', data: { step: 7 } },
      then: 'code_must_be_right',
    },
    'a later code is': {
      given: on,
      when: { type: 'UseTotp', data: { step: 8 } },
      then: [{ type: 'UserTotpUsed', data: { step: 8 } }],
      again: 'code_must_be_right',
    },
    'a setup turns the authenticator on, with recovery codes': {
      given: [registered, setup],
      when: enable,
      then: [enabled, { ...generated, data: { batch, digests: ['one', 'two'] } }],
    },
    'a setup is good for an hour': {
      given: [registered, setup],
      when: enable,
      then: 'totp_setup_must_be_the_newest',
      context: { now: later(hour) },
    },
    'nor is it good after another password': {
      given: [registered, setup, otherPassword],
      when: enable,
      then: 'totp_setup_must_be_the_newest',
    },
    'what an earlier version let be enabled after another password stays enabled': {
      given: [registered, setup, otherPassword, enabled, generated],
      when: { type: 'UseTotp', data: { step: 8 } },
      then: [{ type: 'UserTotpUsed', data: { step: 8 } }],
      again: 'code_must_be_right',
    },
    'nor is it good once it is undone': {
      given: [registered, setup, undone],
      when: enable,
      then: 'totp_setup_must_be_the_newest',
    },
    'what an earlier version let be enabled after it was undone stays enabled': {
      given: [registered, setup, undone, enabled, generated],
      when: { type: 'UseTotp', data: { step: 8 } },
      then: [{ type: 'UserTotpUsed', data: { step: 8 } }],
      again: 'code_must_be_right',
    },
    'another setup proves nothing for this one': {
      given: [registered, setup],
      when: { ...enable, data: { ...enable.data, secretId: v7() } },
      then: 'totp_setup_must_be_the_newest',
    },
    'a recovery code is good once': {
      given: on,
      when: useCode,
      then: [usedCode],
      again: 'code_must_be_right',
    },
    'new recovery codes take the place of the old': {
      given: [...on, { ...generated, data: { batch: v7(), digests: ['three'] } }],
      when: useCode,
      then: 'code_must_be_right',
    },
    'without the authenticator nothing stands in for it': {
      given: [...on, { type: 'UserTotpDisabled', data: {} }],
      when: useCode,
      then: 'code_must_be_right',
    },
  },
  { user: v7() },
)
