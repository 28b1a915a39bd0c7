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
const refresh = (generation: number) => ({
  type: 'RefreshSession' as const,
  data: { session, generation, ...place },
})

scenarios(
  userSessions,
  {
    'a session starts once': { when: { type: 'StartSession', data: begin }, then: [started] },
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
      when: {
        type: 'EndSessions',
        data: { startedUntil: at(1).toISOString(), except: other, reason: 'ended_by_user' },
      },
      then: [
        {
          type: 'SessionsEnded',
          data: { startedUntil: at(1).toISOString(), except: other, reason: 'ended_by_user' },
        },
      ],
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
      when: {
        type: 'EndSessions',
        data: { startedUntil: null, except: null, reason: 'password_changed' },
      },
      then: [
        { type: 'SessionsEnded', data: { startedUntil: null, except: null, reason: 'password_changed' } },
      ],
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
      when: { type: 'StartSession', data: { ...begin, session: other } },
      then: [ended('too_many'), alsoStarted],
    },
    'a session that is not there cannot be ended by its user': {
      when: { type: 'EndSession', data: { session, reason: 'ended_by_user' } },
      then: 'resource_must_exist',
    },
    'the session that is spared goes on': {
      given: [
        { ...started, at: at(0).toISOString() },
        {
          type: 'SessionsEnded',
          data: { startedUntil: at(0).toISOString(), except: session, reason: 'ended_by_user' },
        },
      ],
      when: { type: 'EndSession', data: { session, reason: 'signed_out' } },
      then: [ended('signed_out')],
    },
    'what starts in the same millisecond ends too': {
      given: [{ ...started, at: at(0).toISOString() }],
      when: {
        type: 'EndSessions',
        data: { startedUntil: at(0).toISOString(), except: null, reason: 'password_changed' },
      },
      then: [
        {
          type: 'SessionsEnded',
          data: { startedUntil: at(0).toISOString(), except: null, reason: 'password_changed' },
        },
      ],
    },
    'what starts later is not ended by a command that comes late': {
      given: [started],
      when: {
        type: 'EndSessions',
        data: { startedUntil: at(-1).toISOString(), except: null, reason: 'password_changed' },
      },
      then: [],
    },
  },
  { user: v7() },
)

t.test('a session that was stored before endings were counted counts as the oldest', async (t) => {
  const { endings: _, ...old } = begin
  t.strictSame(upcast(userSessionEvents.SessionStarted, 2, old), { ...old, endings: 0 })
})
