import t from 'tap'
import { v7 } from 'uuid'
import {
  userSessionEvents,
  userSessions,
  type UserSessionEvents,
} from '../../packages/domain/sessions/user-sessions.ts'
import { upcast } from '../../packages/kernel/event-types.ts'
import { scenarios } from '../support/scenarios.ts'

const [session, other, merchant, elsewhere] = [v7(), v7(), v7(), v7()]
const place = { device: 'Firefox', address: '192.0.2.1', country: 'CI' }
const begin = { session, method: 'password', merchant, endings: 0, ...place } as const
const at = (second: number) => new Date(Date.parse('2026-01-01T12:00:00Z') + second * 1_000)
const days = 24 * 3_600

const started = { type: 'SessionStarted', data: begin } as const
const alsoStarted = { type: 'SessionStarted', data: { ...begin, session: other } } as const
const refreshed = (generation: number) => ({
  type: 'SessionRefreshed' as const,
  data: { session, generation, ...place },
})
const ended = (reason: UserSessionEvents['SessionEnded']['reason']) => ({
  type: 'SessionEnded' as const,
  data: { session, reason },
})
const all = { endings: null, except: null, reason: 'password_changed' } as const
const ending = (data: Partial<UserSessionEvents['SessionsEnded']>) => ({
  type: 'SessionsEnded' as const,
  data: { startedUntil: null, ...all, ...data },
})
const refresh = (generation: number) => ({
  type: 'RefreshSession' as const,
  data: { session, generation, ...place },
})

scenarios(
  userSessions,
  {
    'a session starts once': {
      when: { type: 'StartSession', data: { ...begin, mayEndOldest: false } },
      then: [started],
    },
    'the newest refresh token buys the next one': {
      given: [started],
      when: refresh(0),
      then: [refreshed(1)],
    },
    'the token before it buys the same successor for some seconds, as a second tab may show it': {
      given: [started, refreshed(1)],
      when: refresh(0),
      then: [],
      context: { now: at(9) },
    },
    'later, the token before it ends the session': {
      given: [started, refreshed(1)],
      when: refresh(0),
      then: [ended('token_reused')],
      again: 'token_must_be_valid',
      context: { now: at(11) },
    },
    'a token of two refreshes ago ends the session, however soon': {
      given: [started, refreshed(1), refreshed(2)],
      when: refresh(0),
      then: [ended('token_reused')],
      again: 'token_must_be_valid',
    },
    'a session that nobody has refreshed for thirty days is over': {
      given: [started],
      when: refresh(0),
      then: 'token_must_be_valid',
      context: { now: at(30 * days) },
    },
    'a session that has ended is not refreshed': {
      given: [started, ended('signed_out')],
      when: refresh(0),
      then: 'token_must_be_valid',
    },
    'all but one end at once': {
      given: [started, alsoStarted],
      when: { type: 'EndSessions', data: { ...all, except: other, reason: 'ended_by_user' } },
      then: [ending({ except: other, reason: 'ended_by_user' })],
    },
    'a session works for another merchant': {
      given: [started],
      when: { type: 'SwitchMerchant', data: { session, merchant: elsewhere } },
      then: [{ type: 'SessionMerchantSwitched', data: { session, merchant: elsewhere } }],
    },
    'a session that has ended works for none': {
      given: [started, ended('signed_out')],
      when: { type: 'SwitchMerchant', data: { session, merchant: elsewhere } },
      then: 'credential_must_not_be_expired',
    },
    'who is no member any more is signed out where the session works for that merchant': {
      given: [started, { type: 'SessionMerchantSwitched', data: { session, merchant: elsewhere } }],
      when: { type: 'EndSessionsOfMerchant', data: { merchant: elsewhere } },
      then: [{ type: 'SessionsOfMerchantEnded', data: { merchant: elsewhere } }],
    },
    'and nowhere else': {
      given: [started],
      when: { type: 'EndSessionsOfMerchant', data: { merchant: elsewhere } },
      then: [],
    },
    'all end whatever the clock of another process says': {
      given: [{ ...started, at: at(60).toISOString() }],
      when: { type: 'EndSessions', data: { ...all, endings: 1 } },
      then: [ending({ endings: 1 })],
    },
    'a user is told once that a spent token was shown': {
      given: [started, ended('token_reused')],
      when: { type: 'NoteReusesTold', data: { sessions: [session] } },
      then: [{ type: 'SessionReuseTold', data: { session } }],
    },
    'one session of fifty ends when another starts': {
      given: [
        started,
        ...Array.from({ length: 49 }, () => ({ ...started, data: { ...begin, session: v7() } })),
      ],
      when: { type: 'StartSession', data: { ...begin, session: other, mayEndOldest: true } },
      then: [ended('too_many'), alsoStarted],
    },
    'none ends for one that may not end it, and it does not start': {
      given: Array.from({ length: 50 }, () => ({ ...started, data: { ...begin, session: v7() } })),
      when: { type: 'StartSession', data: { ...begin, session: other, mayEndOldest: false } },
      then: [],
    },
    'a session that is not there cannot be ended by its user': {
      when: { type: 'EndSession', data: { session, reason: 'ended_by_user' } },
      then: 'resource_must_exist',
    },
    'the session that is spared goes on': {
      given: [started, ending({ except: session })],
      when: { type: 'EndSession', data: { session, reason: 'signed_out' } },
      then: [ended('signed_out')],
    },
    'what has begun behind an ending is not ended by a command that comes late': {
      given: [{ ...started, data: { ...begin, endings: 1 }, at: at(-60).toISOString() }],
      when: { type: 'EndSessions', data: { ...all, endings: 1 } },
      then: [],
    },
    'an ending that was stored with a time has ended what had begun by then': {
      given: [
        { ...started, at: at(0).toISOString() },
        { ...alsoStarted, at: at(1).toISOString() },
        ending({ startedUntil: at(0).toISOString() }),
      ],
      when: { type: 'EndSessions', data: { ...all, except: other } },
      then: [],
    },
  },
  { user: v7() },
)

t.test('a session that was stored before endings were counted counts as the oldest', async (t) => {
  const { endings: _, ...old } = begin
  t.strictSame(upcast(userSessionEvents.SessionStarted, 2, old), { ...old, endings: 0 })
})

t.test(
  'an ending that was stored before endings were counted is of those that had begun by then',
  async (t) => {
    const old = { startedUntil: at(0).toISOString(), except: other, reason: 'password_changed' }
    t.strictSame(upcast(userSessionEvents.SessionsEnded, 2, old), { ...old, endings: null })
  },
)
