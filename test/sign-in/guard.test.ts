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
const owner = { asker: 'owner' }
const stranger = { asker: 'stranger' }
const link = { link: v7(), purpose: 'reset_password', user: null, claim: v7(), ...owner } as const
const asking = { type: 'RequestSignInLink', data: { ...link, isLimited: true } } as const
const requested = (ms: number, by = owner) => ({
  type: 'SignInLinkRequested' as const,
  data: { ...link, link: v7(), ...by },
  at: later(ms).toISOString(),
})
const mailed = (ms: number, purpose: MailPurpose = 'email_change', by = owner) => ({
  type: 'SignInMailRequested' as const,
  data: { purpose, ...by },
  at: later(ms).toISOString(),
})
const texting = { type: 'RequestMail', data: { purpose: 'texts', asker: null, isLimited: true } } as const
const mailing = { type: 'RequestMail', data: { purpose: 'email_change', ...owner, isLimited: true } } as const
const changing = { type: 'SignInMailRequested', data: { purpose: 'email_change', ...owner } } as const
const answer = { type: 'SignInTried', data: attempt } as const
const refused = { type: 'SignInRefused', data: attempt } as const
const [first, second] = [tried(), tried(1)]
const pass = ({ data }: typeof first) => ({ type: 'PassSignIn', data: { attempt: data.attempt } }) as const
const passing = ({ data }: typeof first) =>
  ({ type: 'SignInPassed', data: { attempt: data.attempt } }) as const

scenarios(
  signInGuard,
  {
    'an attempt counts each time': {
      when: trying,
      then: [answer],
      again: [answer],
    },
    'after ten that have not passed the account is locked': {
      given: ten,
      when: trying,
      then: [refused],
      again: 'sign_in_must_not_be_locked',
      context: { now: later(15 * minute - 1) },
    },
    'each lock notes the first try that it refuses, for whoever reads the history': {
      given: [...ten, { ...refused, at: later(minute).toISOString() }],
      when: trying,
      then: 'sign_in_must_not_be_locked',
      context: { now: later(2 * minute) },
    },
    'and the next lock another one': {
      given: [...ten, refused, ...Array.from({ length: 10 }, () => tried(20 * minute))],
      when: trying,
      then: [refused],
      again: 'sign_in_must_not_be_locked',
      context: { now: later(21 * minute) },
    },
    'a network address is nobody’s history': {
      given: Array.from({ length: 100 }, () => tried()),
      when: fromAddress,
      then: 'sign_in_must_not_be_locked',
    },
    'two that are under way at once both pass, whichever is first': {
      given: [first, second, passing(first)],
      when: pass(second),
      then: [passing(second)],
    },
    'or the other one': {
      given: [first, second, passing(second)],
      when: pass(first),
      then: [passing(first)],
    },
    'one that fails beside one that passes counts no more, and is not passed': {
      given: [first, second, passing(first)],
      when: { type: 'PassSignIn', data: { attempt: v7() } },
      then: [],
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
      again: [refused],
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
    'a stranger uses up none of the links of whoever has the mailbox': {
      given: [50, 40, 30, 2, 1].map((minutes) => requested(-minutes * minute, stranger)),
      when: asking,
      then: [{ type: 'SignInLinkRequested', data: link }],
    },
    'many strangers only make the owner wait until the newest link is over': {
      given: [6, 5, 4, 3, 2, 1].map((one) => requested(-one * minute, { asker: `stranger ${one}` })),
      when: asking,
      then: [],
    },
    'nor do strangers use up other mails': {
      given: [50, 40, 30, 20, 0.1].map((minutes) => mailed(-minutes * minute, 'email_change', stranger)),
      when: mailing,
      then: [changing],
      again: 'rate_must_be_within_the_limit',
    },
    'of whom each has fewer than are left for others': {
      given: [8, 7, 6, 5, 4, 3, 2].map((one) =>
        mailed(-one * minute, 'email_change', one > 5 ? owner : stranger),
      ),
      when: mailing,
      then: 'rate_must_be_within_the_limit',
    },
    'ten in an hour are all that a mailbox gets': {
      given: Array.from({ length: 10 }, (_, one) =>
        mailed(one - minute, 'email_change', { asker: `${one}` }),
      ),
      when: mailing,
      then: 'rate_must_be_within_the_limit',
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
      then: [{ type: 'SignInMailRequested', data: { purpose: 'texts', asker: null } }],
      again: 'rate_must_be_within_the_limit',
    },
    'where nothing is counted, everything is sent': {
      given: [mailed(-1)],
      when: { ...mailing, data: { ...mailing.data, isLimited: false } },
      then: [changing],
      again: [changing],
    },
    'whatever else is sent there': {
      given: [50, 40, 30, 20, 10].map((minutes) => requested(-minutes * minute)),
      when: mailing,
      then: [changing],
      again: 'rate_must_be_within_the_limit',
    },
  },
  { platform: true },
)
