import { generate } from 'otplib'
import t from 'tap'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { mailedToken, textTo } from '../support/identities/mails.ts'
import { newPhone } from '../support/identities/phone-samples.ts'
import { withTotp } from '../support/identities/second-factors.ts'
import { serviceProcess } from '../support/processes/service-process.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { startService, type MerchantClient, type TestService } from '../support/service.ts'
import { as, goodPassword, newUser, signIn, type SignedIn } from '../support/identities/sign-in.ts'

const path = '/api/v1/auth/history'
const open = { key: '' }
const other = 'encore quatre mots au hasard'

interface Told {
  readonly type: string
  readonly actor: string
  readonly subject_type: string | null
  readonly subject_id: string | null
  readonly merchant_id: string | null
}

let service: TestService

t.before(async () => {
  service = await startService(t)
})

const history = async (by: SignedIn) =>
  (await service.get<{ data: readonly Told[] }>(`${path}?limit=100`, as(by))).body.data
const typesOf = (all: readonly Told[]) => all.map(({ type }) => type)
/** The membership and the mail follow on the registration, and may overtake each other. */
const signUp = (types: readonly string[]) => [...types.slice(0, -1).toSorted(), ...types.slice(-1)]
const signedUp = ['MerchantMemberAdded', 'UserEmailVerificationRequested', 'UserRegistered']

t.test('a user reads what happened to their access, newest first, and nobody else does', async (t) => {
  const [awa, stranger] = [await newUser(service), await newUser(service)]
  const wrong = { email: awa.email.toUpperCase(), password: 'encore quatre mots au hasard' }
  await service.post('/api/v1/auth/login', wrong, open)
  const second = await signIn(service, awa)
  await withTotp(service, awa)
  const wanted = { name: 'Shop', environment: 'sandbox', scopes: ['balance.read'] }
  const { body: key } = await service.post('/api/v1/auth/api-keys', wanted, as(awa))
  await service.call('DELETE', `/api/v1/auth/api-keys/${String(key['id'])}`, undefined, as(awa))
  await service.call('DELETE', `/api/v1/auth/sessions/${second.session}`, undefined, as(awa))
  const all = await eventually(
    () => history(awa),
    (told) => typesOf(told).includes('SessionEnded'),
  )
  t.strictSame(signUp(typesOf(all).slice(-3)), signedUp)
  t.strictSame(typesOf(all).slice(0, -3), [
    'SessionEnded',
    'ApiKeyRevoked',
    'ApiKeyIssued',
    'UserRecoveryCodesGenerated',
    'UserTotpEnabled',
    'UserTotpSetupStarted',
    'SessionStarted',
    'SignInFailed',
    'SessionStarted',
  ])
  t.match(all[1], { actor: `user:${awa.id}`, subject_type: 'api_key', subject_id: key['id'] })
  const member = all.find(({ type }) => type === 'MerchantMemberAdded')
  t.equal(member?.merchant_id, awa.merchant)
  t.notMatch(JSON.stringify(all), awa.email)
  const [session, ...before] = typesOf(await history(stranger))
  t.equal(session, 'SessionStarted')
  t.strictSame(signUp(before), signedUp)
})

t.test('of tries that a lock refuses, the first one of each lock is in the history', async (t) => {
  const awa = await newUser(service)
  const login = (password: string) => service.post('/api/v1/auth/login', { email: awa.email, password }, open)
  for (const _ of Array.from({ length: 10 })) t.equal((await login(other)).status, 401)
  for (const _ of Array.from({ length: 3 })) t.equal((await login(awa.password)).status, 423)
  const all = typesOf(
    await eventually(
      () => history(awa),
      (told) => typesOf(told).includes('SignInRefused'),
    ),
  )
  t.equal(all.filter((type) => type === 'SignInFailed').length, 10)
  t.equal(all.filter((type) => type === 'SignInRefused').length, 1)
})

t.test('sign-ins that cross each other are no failures', async (t) => {
  const awa = await newUser(service)
  await Promise.all(Array.from({ length: 6 }, () => signIn(service, awa)))
  const sessions = (told: readonly Told[]) => typesOf(told).filter((type) => type === 'SessionStarted')
  const all = await eventually(
    () => history(awa),
    (told) => sessions(told).length === 7,
  )
  t.notOk(typesOf(all).includes('SignInFailed'))
})

/** Somebody who does everything, and what nobody who reads the log may find in it. */
async function journey(client: MerchantClient, dataDirectory: string) {
  const auth = '/api/v1/auth'
  const posts = { runtime: { configuration: { dataDirectory } } } as never
  const secrets = new Set<string>([goodPassword, other, 'Awa Koné', 'Ibra Diop'])
  const secret = (value: unknown) => (secrets.add(String(value)), String(value))
  const mailed = async (to: string, page: string) => secret(await mailedToken(posts, to, page))
  const asking = (key: string) => async (path: string, body: object) => {
    const answer = await client.post(path, body, { key })
    for (const name of ['access_token', 'refresh_token', 'key', 'secret', 'code'])
      if (typeof answer.body[name] === 'string' && answer.status < 300) secret(answer.body[name])
    return answer.body
  }
  const anybody = asking('')
  const awa = await newUser(client)
  for (const value of [awa.email, awa.token, awa.refreshToken]) secret(value)
  await anybody(`${auth}/login`, { email: awa.email, password: other })
  await asking(awa.token)(`${auth}/verify-email`, { token: await mailed(awa.email, 'verify-email') })
  const { access_token: key } = await anybody(`${auth}/refresh`, { refreshToken: awa.refreshToken })
  const own = asking(String(key))

  const number = secret(newPhone())
  await own(`${auth}/phone-change/request`, { newPhone: number })
  const code = (await textTo(posts, number)).slice(0, 6)
  await own(`${auth}/phone-change/verify`, { code: secret(code) })

  const setup = await own(`${auth}/mfa/totp/setup`, {})
  const shown = await generate({ secret: String(setup['secret']) })
  const factor = { secretId: setup['secret_id'], code: secret(shown) }
  const codes = (await own(`${auth}/mfa/totp/verify`, factor))['codes'] as string[]
  codes.forEach(secret)
  const login = { email: awa.email, password: awa.password }
  const begun = await anybody(`${auth}/login`, login)
  await anybody(`${auth}/mfa/verify`, { challengeId: begun['id'], code: codes[0] })
  const stepUp = await own(`${auth}/mfa/challenge`, { purpose: 'change_email' })
  await anybody(`${auth}/mfa/verify`, { challengeId: stepUp['id'], code: codes[1] })
  const newEmail = secret(`moved.${awa.email}`)
  await own(`${auth}/email-change/request`, { challengeId: stepUp['id'], newEmail })
  await own(`${auth}/email-change/confirm`, { token: await mailed(newEmail, 'email-change') })

  const wanted = { name: 'Shop', environment: 'sandbox', scopes: ['balance.read'] }
  const issued = await own(`${auth}/api-keys`, wanted)
  await own(`${auth}/api-keys/${String(issued['id'])}/roll`, {})
  const email = secret(`ibra.${awa.email}`)
  await own('/api/v1/merchant/team/invite', { email, role: 'support', name: 'Ibra Diop' })
  const token = await mailed(email, 'invitation')
  await anybody('/api/v1/invitations/accept', { token, password: goodPassword })
  await anybody(`${auth}/magic-link`, { email })
  await anybody(`${auth}/magic-link/verify`, { token: await mailed(email, 'magic-link') })
  await anybody(`${auth}/forgot-password`, { email: newEmail })
  const reset = { token: await mailed(newEmail, 'reset-password'), newPassword: other }
  await anybody(`${auth}/reset-password`, reset)
  await client.get(`${auth}/me?email=${newEmail}`, {
    key: secret('ik_test_0123456789abcdefghijklmnopqrstuvwxyz'),
  })
  return { awa, secrets }
}

t.test('the log of the service tells of it by ids, without address, number, code or secret', async (t) => {
  const { url: POSTGRES_URL } = await testDatabase(t)
  const dataDirectory = temporaryDirectory(t)
  const settings = { POSTGRES_URL, LOG_LEVEL: 'trace' }
  const { service: process, client } = await serviceProcess(t, dataDirectory, settings)
  const { awa, secrets } = await journey(client, dataDirectory)
  const steps = [
    ...['UserRegistered', 'SignInTried', 'UserEmailVerified', 'UserPhoneChanged', 'UserTotpEnabled'],
    ...['UserRecoveryCodeUsed', 'ChallengeVerified', 'UserEmailChanged', 'ApiKeyIssued', 'ApiKeyRolled'],
    ...['UserMagicLinkUsed', 'UserPasswordChanged', 'SessionStarted', 'SessionsEnded'],
  ]
  await eventually(
    async () => steps.filter((type) => !process.errors.includes(`"${type}"`)),
    (missing) => missing.length === 0,
  )
  t.ok(process.errors.includes(awa.id))
  // Ids and times have digits that may be those of a code.
  const words = new Set(process.errors.split(/\W+/))
  const isShown = (secret: string) =>
    secret.length > 6 ? process.errors.includes(secret) : words.has(secret)
  await lawOver(t, secrets, (secret) => t.notOk(isShown(secret), secret))
})
