import { v7 } from 'uuid'
import { apiKey } from '../../packages/domain/api-keys/api-key.ts'
import { context, scenarios } from '../support/scenarios.ts'

const day = 24 * 3_600
const at = (seconds: number) => new Date(context.now.getTime() + seconds * 1_000)

const terms = { name: 'Shop', scopes: ['payments.write'], addresses: ['192.0.2.0/24'] }
const details = { ...terms, hash: v7(), last4: 'abcd', expiresAt: null as string | null }
const issued = { type: 'ApiKeyIssued', data: details } as const
const ending = { ...details, expiresAt: at(day).toISOString() }
const issuedForADay = { type: 'ApiKeyIssued', data: ending } as const
const next = { hash: v7(), last4: 'efgh' }
const roll = (overlapSeconds: number) => ({
  type: 'RollApiKey' as const,
  data: { ...next, overlapSeconds },
})
const rolled = (endsAt: Date, successor = { ...details, ...next }) => ({
  type: 'ApiKeyRolled' as const,
  data: { successor, endsAt: endsAt.toISOString() },
})
const revoke = { type: 'RevokeApiKey', data: { reason: 'revoked' } } as const
const revoked = { type: 'ApiKeyRevoked', data: { reason: 'revoked' } } as const
const used = { type: 'ApiKeyUsed', data: {} } as const
const note = { type: 'NoteApiKeyUsed', data: {} } as const

scenarios(apiKey, {
  'a key is issued once': { when: { type: 'IssueApiKey', data: details }, then: [issued] },
  'a rolled key ends at once, and its successor may do the same': {
    given: [issued],
    when: roll(0),
    then: [rolled(context.now)],
  },
  'with an overlap both are good for so long': { given: [issued], when: roll(day), then: [rolled(at(day))] },
  'an overlap makes no key last longer than it was issued for': {
    given: [issuedForADay],
    when: roll(2 * day),
    then: [rolled(at(day), { ...ending, ...next })],
  },
  'a key has one successor': {
    given: [issued, rolled(at(day), { ...details, hash: v7(), last4: 'ijkl' })],
    when: roll(0),
    then: 'api_key_must_be_active',
  },
  'a key that has expired has none': {
    given: [issuedForADay],
    when: roll(0),
    then: 'api_key_must_be_active',
    context: { now: at(day) },
  },
  'a revoked key has none': { given: [issued, revoked], when: roll(0), then: 'api_key_must_be_active' },
  'a key that is not there has none': { when: roll(0), then: 'resource_must_exist' },
  'a key is revoked once': { given: [issued], when: revoke, then: [revoked], again: 'resource_must_exist' },
  'a key is revoked during its overlap too': {
    given: [issued, rolled(at(day))],
    when: revoke,
    then: [revoked],
    again: 'resource_must_exist',
  },
  'the first use is noted': { given: [issued], when: note, then: [used] },
  'a second use on the same day is not': {
    given: [issued, used],
    when: note,
    then: [],
    context: { now: at(day - 1) },
  },
  'a use a day later is': { given: [issued, used], when: note, then: [used], context: { now: at(day) } },
})
