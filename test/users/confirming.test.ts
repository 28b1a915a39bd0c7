import t from 'tap'
import { mailedToken, mailTo } from '../support/mails.ts'
import { withTotp } from '../support/second-factors.ts'
import { startService, type TestService } from '../support/service.ts'
import { newUser, signIn, type SignedIn } from '../support/sign-in.ts'
import { changeToken } from '../support/users.ts'

const auth = '/api/v1/auth'
const other = 'encore quatre mots au hasard'
const open = { key: '' }

let service: TestService
let now = Date.now()

t.before(async () => {
  service = await startService(t, {}, { clock: () => new Date(now) })
})

const as = (token: string) => ({ key: token })
const me = (token: string) => service.get(`${auth}/me`, as(token))
const login = ({ email, password }: SignedIn) => service.post(`${auth}/login`, { email, password }, open)
const verify = (token: string, key: string) => service.post(`${auth}/verify-email`, { token }, as(key))

/** Somebody with another's address, and the token that the other one has in the mailbox. */
async function squatting() {
  const squatter = await newUser(service)
  const change = { newEmail: `own.${squatter.email}` }
  const { body } = await service.post(`${auth}/email-change/request`, change, as(squatter.token))
  await withTotp(service, squatter)
  const token = await mailedToken(service.service, squatter.email, 'verify-email')
  return { squatter, token, change: await changeToken(service.service, squatter.id, String(body['id'])) }
}

t.test('who confirms an address without being signed in takes the account over', async (t) => {
  const { squatter, token, change } = await squatting()
  t.equal((await verify(token, '')).status, 200)
  t.equal((await me(squatter.token)).status, 401)
  t.equal((await login(squatter)).status, 401)
  const told = await mailTo(
    service.service,
    squatter.email,
    /ne demande plus de code[^]*mot de passe qui avait été choisi/,
  )
  t.notMatch(told, 'Awa', 'the name is what a stranger has typed')
  const reset = await mailedToken(service.service, squatter.email, 'reset-password')
  const chosen = { token: reset, newPassword: other }
  t.equal((await service.post(`${auth}/reset-password`, chosen, open)).status, 200)
  now += 1
  const owner = await signIn(service, { email: squatter.email, password: other })
  t.match(await me(owner.token), { body: { email_verified: true, mfa_enabled: false } })
  t.match(await service.post(`${auth}/email-change/confirm`, { token: change }, as(owner.token)), {
    status: 401,
    body: { code: 'IKW-AUTH-005' },
  })
})

t.test('the session of another user proves no more than none', async (t) => {
  const [{ squatter, token }, stranger] = [await squatting(), await newUser(service)]
  t.equal((await verify(token, stranger.token)).status, 200)
  t.equal((await me(squatter.token)).status, 401)
  t.equal((await me(stranger.token)).status, 200)
  t.equal((await login(squatter)).status, 401)
})

t.test('who confirms an address and is signed in loses nothing', async (t) => {
  const user = await newUser(service)
  await withTotp(service, user)
  const token = await mailedToken(service.service, user.email, 'verify-email')
  t.equal((await verify(token, user.token)).status, 200)
  t.match(await me(user.token), { status: 200, body: { email_verified: true, mfa_enabled: true } })
  t.match(await login(user), { status: 200, body: { object: 'challenge' } })
})

t.test('no mailbox comes to belong to an account because its owner opens a link', async (t) => {
  const [squatter, stranger] = [await newUser(service), await newUser(service)]
  const newEmail = `victim.${squatter.email}`
  await service.post(`${auth}/email-change/request`, { newEmail }, as(squatter.token))
  const token = await mailedToken(service.service, newEmail, 'email-change')
  const confirm = (key: string) => service.post(`${auth}/email-change/confirm`, { token }, as(key))
  t.equal((await confirm('')).status, 401)
  t.match(await confirm(stranger.token), { status: 401, body: { code: 'IKW-AUTH-005' } })
  t.match(await me(squatter.token), { body: { email: squatter.email } })
  t.match(await confirm(squatter.token), { status: 200, body: { status: 'completed' } })
})
