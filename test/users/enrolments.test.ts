import t from 'tap'
import type { ChallengePurpose } from '../../packages/domain/challenges/challenge.ts'
import { user as users, type UserCommands } from '../../packages/domain/users/user.ts'
import type { Message } from '../../packages/kernel/decider.ts'
import { holdOwnAppends } from '../support/event-store/held-appends.ts'
import { eventually } from '../support/eventually.ts'
import { startServiceWithGoogle } from '../support/identities/google.ts'
import { lawOver } from '../support/law.ts'
import { mailedToken, mailTo } from '../support/identities/mails.ts'
import { withPasskey } from '../support/identities/passkey-samples.ts'
import { proof, withTotp } from '../support/identities/second-factors.ts'
import type { TestService } from '../support/service.ts'
import { newUser, signIn, type SignedIn } from '../support/identities/sign-in.ts'

const auth = '/api/v1/auth'
const minute = 60_000
const open = { key: '' }

interface Enrolment {
  readonly purpose: ChallengePurpose
  readonly body: object
}

/** What makes a new way in, or takes the mailbox or the telephone over. */
const enrolments: Readonly<Record<string, Enrolment>> = {
  'mfa/totp/setup': { purpose: 'enable_totp', body: {} },
  'passkeys/registration/begin': { purpose: 'passkey_registration', body: {} },
  'google/connect': { purpose: 'google_connect', body: {} },
  'email-change/request': { purpose: 'change_email', body: { newEmail: 'thief@example.com' } },
  'phone-change/request': { purpose: 'change_phone', body: { newPhone: '+2250700000077' } },
}

let service: TestService
let now = Date.now()

t.before(async () => {
  service = await startServiceWithGoogle(t, {}, { clock: () => new Date(now) })
})

const enrol = (path: string, { token: key }: SignedIn, body: object) =>
  service.post(`${auth}/${path}`, body, { key })
const refused = { status: 400, body: { param: '/challengeId' } }

t.test('an access token alone enrols nothing once the sign-in is some minutes ago', async (t) => {
  await lawOver(t, Object.entries(enrolments), async ([path, { purpose, body }]) => {
    const user = await newUser(service)
    now += 11 * minute
    t.match(await enrol(path, user, body), refused, path)
    const challengeId = await proof(service, user, { purpose })
    const proven = await enrol(path, user, { ...body, challengeId })
    t.ok(proven.status < 300, `${path} answers ${proven.status} to a mailed code`)
  })
})

t.test('a renewed session is no new sign-in', async (t) => {
  const user = await newUser(service)
  now += 11 * minute
  const { body } = await service.post(`${auth}/refresh`, { refreshToken: user.refreshToken }, open)
  const renewed = { ...user, token: String(body['access_token']) }
  t.match(await enrol('mfa/totp/setup', renewed, {}), refused)
})

t.test('right after signing in nothing else is asked for before the first factor', async (t) => {
  await lawOver(t, Object.entries(enrolments), async ([path, { body }]) => {
    const signedIn = await signIn(service, await newUser(service))
    const answer = await enrol(path, signedIn, body)
    t.ok(answer.status < 300, `${path} answers ${answer.status}`)
  })
})

t.test('who has a factor shows one before any other is added', async (t) => {
  const [authenticated, keyed] = [await newUser(service), await newUser(service)]
  await withTotp(service, authenticated)
  await withPasskey(service, keyed)
  await lawOver(t, Object.entries(enrolments), async ([path, { body }]) => {
    t.match(await enrol(path, keyed, body), refused, `${path}, with a passkey`)
    const isThere = path === 'mfa/totp/setup'
    const answer = await enrol(path, authenticated, body)
    t.match(answer, isThere ? { status: 409 } : refused, `${path}, with an authenticator`)
  })
})

t.test('a user is told of each factor and each password, and the mail removes what was added', async (t) => {
  const user = await newUser(service)
  const { codes } = await withTotp(service, user)
  const undo = await mailedToken(service.service, user.email, 'undo-factors')
  now += minute
  const challengeId = await proof(service, user, { purpose: 'passkey_registration', code: codes[0]! })
  await withPasskey(service, user, { challengeId })
  await mailTo(service.service, user.email, /Une nouvelle clé d’accès ouvre/)
  const changed = { currentPassword: user.password, newPassword: 'encore quatre mots au hasard' }
  await service.post(`${auth}/change-password`, changed, { key: user.token })
  await mailTo(service.service, user.email, /Le mot de passe de votre compte vient/)

  t.equal((await service.post(`${auth}/mfa/undo`, { token: undo }, open)).status, 200)
  t.equal((await service.get(`${auth}/me`, { key: user.token })).status, 401)
  await mailTo(service.service, user.email, /ne demande plus de code/)
  await mailTo(service.service, user.email, /n’ouvre plus votre compte/)
  now += minute
  const again = await signIn(service, { email: user.email, password: changed.newPassword })
  const factors = await service.get(`${auth}/mfa`, { key: again.token })
  t.match(factors, { body: { totp_enabled: false, passkeys: 0 } })

  await withTotp(service, again)
  t.match(await service.post(`${auth}/mfa/undo`, { token: undo }, open), { status: 401 })
  t.match(await service.get(`${auth}/mfa`, { key: again.token }), { body: { totp_enabled: true } })
})

t.test('no passkey is added by whoever has begun to before the user undoes what was added', async (t) => {
  const { token: _, ...person } = await newUser(service)
  const thief = await signIn(service, person)
  const { store, executor } = service.service.runtime.dependencies
  const held = holdOwnAppends(store, 'ChallengeVerified')
  const adding = withPasskey(service, thief)
  await held.begun
  const undo = { type: 'UndoFactors', data: { since: new Date(now).toISOString() } } as const
  await executor.send(users, person.id, undo, { actor: 'test', correlation: 'test', user: person.id })
  held.release()
  await adding
  now += minute
  const again = await signIn(service, person)
  t.match(await service.get(`${auth}/mfa`, { key: again.token }), { body: { passkeys: 0 } })
})

/** What ends all sessions of a user but `spared`, or all. */
const ends = {
  UndoFactors: () => ({ since: new Date(now).toISOString() }),
  ChangePassword: (spared: string) => ({ password: '$argon2id$…', session: spared }),
} as const

t.test('no session sets anything up between what ends it and its end', async (t) => {
  await lawOver(t, ['UndoFactors', 'ChangePassword'] as const, async (type) => {
    const { id, token: _, ...person } = await newUser(service)
    const [thief, other] = [await signIn(service, person), await signIn(service, person)]
    const proven = async (by: SignedIn, purpose: ChallengePurpose) => ({
      challengeId: await proof(service, by, { purpose }),
    })
    const byThief = [await proven(thief, 'enable_totp'), await proven(thief, 'passkey_registration')] as const
    const byOther = await proven(other, 'change_email')
    const { store, executor } = service.service.runtime.dependencies
    const held = holdOwnAppends(store, 'SessionsEnded')
    const end = { type, data: ends[type](other.session) } as Message<UserCommands>
    await executor.send(users, id, end, { actor: 'test', correlation: 'test', user: id })
    await held.begun
    t.match(await enrol('mfa/totp/setup', thief, byThief[0]), { status: 401 }, `after ${type}`)
    await withPasskey(service, thief, byThief[1])
    const factors = await service.get(`${auth}/mfa`, { key: thief.token })
    t.match(factors, { status: 200, body: { passkeys: 0 } }, 'although its session is not over yet')
    const newEmail = `new-${person.email}`
    const { status } = await enrol('email-change/request', other, { ...byOther, newEmail })
    t.equal(status < 300, type === 'ChangePassword', 'who changes the password goes on')
    held.release()
    await eventually(
      () => service.get(`${auth}/mfa`, { key: thief.token }),
      ({ status }) => status === 401,
    )
  })
})

t.test('which sessions are over no clock says', async (t) => {
  const { id, ...person } = await newUser(service)
  const [thief, purpose] = [await signIn(service, person), 'enable_totp'] as const
  const byThief = { challengeId: await proof(service, thief, { purpose }) }
  const { store, executor, passwords } = service.service.runtime.dependencies
  const password = 'another-long-password-of-the-user'
  const change = { password: await passwords.hash(password, []), session: null }
  const held = holdOwnAppends(store, 'SessionsEnded')
  t.teardown(held.release)
  // On a machine whose clock is behind the one where the thief signed in.
  now -= minute
  await executor.send(
    users,
    id,
    { type: 'ChangePassword', data: change },
    { actor: 'test', correlation: 'test', user: id },
  )
  t.match(await enrol('mfa/totp/setup', thief, byThief), { status: 401 }, 'it began before, at a later time')
  now -= minute
  held.release()
  const again = await signIn(service, { ...person, password })
  const { status } = await enrol('mfa/totp/setup', again, {})
  t.ok(status < 300, `it began after, at an earlier time: ${status}`)
})

t.test('whoever undoes a factor keeps the address that a thief was about to change', async (t) => {
  const user = await newUser(service)
  const { codes } = await withTotp(service, user)
  const undo = await mailedToken(service.service, user.email, 'undo-factors')
  now += minute
  const newEmail = `thief-of-${user.email}`
  const challengeId = await proof(service, user, { purpose: 'change_email', code: codes[0]! })
  const asked = await service.post(
    `${auth}/email-change/request`,
    { newEmail, challengeId },
    { key: user.token },
  )
  t.equal(asked.status, 201)
  const token = await mailedToken(service.service, newEmail, 'email-change')
  t.equal((await service.post(`${auth}/mfa/undo`, { token: undo }, open)).status, 200)
  now += minute
  const again = await signIn(service, user)
  t.match(await service.post(`${auth}/email-change/confirm`, { token }, { key: again.token }), {
    status: 401,
    body: { code: 'IKW-AUTH-005' },
  })
})
