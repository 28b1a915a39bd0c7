import { v7 } from 'uuid'
import { challenge } from '../../packages/domain/challenges/challenge.ts'
import { context, scenarios } from '../support/scenarios.ts'

const [user, request, other] = [v7(), v7(), v7()]
const minute = 60_000
const later = (ms: number) => new Date(context.now.getTime() + ms)
const issue = {
  purpose: 'disable_totp',
  method: 'email',
  user,
  destination: 'awa@example.com',
  language: 'fr',
  passwordChanges: 0,
} as const
const issued = {
  type: 'ChallengeIssued',
  data: { ...issue, expiresAt: later(10 * minute).toISOString() },
} as const
const failed = { type: 'ChallengeFailed', data: {} } as const
const verified = { type: 'ChallengeVerified', data: { method: 'email' } } as const
const consumed = { type: 'ChallengeConsumed', data: { by: request } } as const
const right = { type: 'AnswerChallenge', data: { isRight: true, method: 'email' } } as const
const wrong = { type: 'AnswerChallenge', data: { isRight: false, method: 'email' } } as const
const consume = { type: 'ConsumeChallenge', data: { purpose: 'disable_totp', by: request } } as const

scenarios(
  challenge,
  {
    'a challenge is issued once': { when: { type: 'IssueChallenge', data: issue }, then: [issued] },
    'a right answer verifies it, and it takes no other': {
      given: [issued],
      when: right,
      then: [verified],
      again: 'challenge_must_be_pending',
    },
    'a wrong answer counts': { given: [issued], when: wrong, then: [failed], again: [failed] },
    'after five wrong ones a right one comes too late': {
      given: [issued, failed, failed, failed, failed, failed],
      when: right,
      then: 'challenge_must_be_pending',
    },
    'a code is good for ten minutes, not longer': {
      given: [issued],
      when: right,
      then: 'code_must_be_right',
      context: { now: later(10 * minute) },
    },
    'what was proved is consumed, by one request and its repeats': {
      given: [issued, verified],
      when: consume,
      then: [consumed],
    },
    'another request has to prove it again': {
      given: [issued, verified, consumed],
      when: { ...consume, data: { ...consume.data, by: other } },
      then: 'challenge_must_be_verified',
    },
    'what was proved for one purpose proves nothing for another': {
      given: [issued, verified],
      when: { ...consume, data: { ...consume.data, purpose: 'change_email' } },
      then: 'challenge_must_be_verified',
    },
    'nor after ten minutes': {
      given: [issued, verified],
      when: consume,
      then: 'challenge_must_be_verified',
      context: { now: later(10 * minute) },
    },
    'what nobody has answered proves nothing': {
      given: [issued],
      when: consume,
      then: 'challenge_must_be_verified',
    },
  },
  { user },
)
