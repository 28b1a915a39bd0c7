import { v7 } from 'uuid'
import { signInGuard, type MailPurpose } from '../../packages/domain/sign-in/sign-in-guard.ts'
import { context, scenarios } from '../support/scenarios.ts'

const user = v7()
const minute = 60_000
const later = (ms: number) => new Date(context.now.getTime() + ms)
const tried = (ms = 0) => ({
  type: 'SignInTried' as const,
  data: { attempt: v7(), user },
  at: later(ms).toISOString(),
})
const attempt = { attempt: v7(), user }
const trying = { type: 'TrySignIn', data: { ...attempt, of: 'account' } } as const
const fromAddress = { type: 'TrySignIn', data: { ...attempt, of: 'address' } } as const
const ten = Array.from({ length: 10 }, () => tried())
const passed = { type: 'SignInPassed', data: { attempt: v7() } } as const
const link = { link: v7(), purpose: 'reset_password', user } as const
const asking = { type: 'RequestSignInLink', data: { ...link, isLimited: true } } as const
const requested = (ms: number) => ({
  type: 'SignInLinkRequested' as const,
  data: { ...link, link: v7() },
  at: later(ms).toISOString(),
})
const mailed = (ms: number, purpose: MailPurpose = 'email_change') => ({
  type: 'SignInMailRequested' as const,
  data: { purpose },
  at: later(ms).toISOString(),
})
const texting = { type: 'RequestMail', data: { purpose: 'texts', isLimited: true } } as const
const mailing = { type: 'RequestMail', data: { purpose: 'email_change', isLimited: true } } as const
const answer = { type: 'SignInTried', data: attempt } as const

scenarios(
  signInGuard,
  {
    'an attempt counts before its password is looked at': {
      when: trying,
      then: [answer],
      again: [answer],
    },
    'after ten that have not passed the account is locked': {
      given: ten,
      when: trying,
      then: 'sign_in_must_not_be_locked',
      context: { now: later(15 * minute - 1) },
    },
    'for a quarter of an hour after the last': {
      given: ten,
      when: trying,
      then: [answer],
      again: [answer],
      context: { now: later(15 * minute) },
    },
    'ten over more than a quarter of an hour lock nobody out': {
      given: [tried(-16 * minute), ...ten.slice(1)],
      when: trying,
      then: [answer],
      again: 'sign_in_must_not_be_locked',
    },
    'one that passes forgets those before it': {
      given: [...ten.slice(1), passed],
      when: trying,
      then: [answer],
      again: [answer],
    },
    'a network address may fail more often, because many share it': {
      given: ten,
      when: fromAddress,
      then: [answer],
      again: [answer],
    },
    'a link is mailed': {
      when: asking,
      then: [{ type: 'SignInLinkRequested', data: link }],
    },
    'but not twice in half a minute': { given: [requested(-29_000)], when: asking, then: [] },
    'from the third in an hour on, a link comes when the one before is over': {
      given: [16, 14].map((minutes) => requested(-minutes * minute)),
      when: asking,
      then: [],
    },
    'and not later, so that somebody else can never use up what its owner needs': {
      given: [60.5, 60, 45, 30, 15].map((minutes) => requested(-minutes * minute)),
      when: asking,
      then: [{ type: 'SignInLinkRequested', data: link }],
    },
    'a code or link is sent to an address so many times an hour': {
      given: [50, 40, 30, 20, 10].map((minutes) => mailed(-minutes * minute)),
      when: mailing,
      then: 'rate_must_be_within_the_limit',
    },
    'codes come ten times an hour': {
      given: Array.from({ length: 10 }, (_, index) => mailed(-(index + 1) * minute, 'code')).toReversed(),
      when: { ...mailing, data: { ...mailing.data, purpose: 'code' } },
      then: 'rate_must_be_within_the_limit',
    },
    'a second link comes after half a minute': {
      given: [requested(-31_000)],
      when: asking,
      then: [{ type: 'SignInLinkRequested', data: link }],
    },
    'messages that one asks for may follow each other at once': {
      given: Array.from({ length: 19 }, () => mailed(-1, 'texts')),
      when: texting,
      then: [{ type: 'SignInMailRequested', data: { purpose: 'texts' } }],
      again: 'rate_must_be_within_the_limit',
    },
    'where nothing is counted, everything is sent': {
      given: [mailed(-1)],
      when: { ...mailing, data: { ...mailing.data, isLimited: false } },
      then: [{ type: 'SignInMailRequested', data: { purpose: 'email_change' } }],
      again: [{ type: 'SignInMailRequested', data: { purpose: 'email_change' } }],
    },
    'whatever else is sent there': {
      given: [50, 40, 30, 20, 10].map((minutes) => requested(-minutes * minute)),
      when: mailing,
      then: [{ type: 'SignInMailRequested', data: { purpose: 'email_change' } }],
      again: 'rate_must_be_within_the_limit',
    },
  },
  { platform: true },
)
