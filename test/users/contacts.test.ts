import t from 'tap'
import { user as users } from '../../packages/domain/users/user.ts'
import { eventually } from '../support/eventually.ts'
import { mailedToken, mailTo, textTo } from '../support/identities/mails.ts'
import { newPhone } from '../support/identities/phone-samples.ts'
import { proof, withTotp } from '../support/identities/second-factors.ts'
import { startService, type TestService } from '../support/service.ts'
import { newUser, signIn, type SignedIn } from '../support/identities/sign-in.ts'
import { changeToken } from '../support/identities/users.ts'

const auth = '/api/v1/auth'
const open = { key: '' }

let service: TestService

t.before(async () => {
  service = await startService(t)
})

/** What whoever has left an address is told there. */
const goesOn = /s’ouvre désormais avec une autre adresse/

const mailed = (address: string, what: RegExp) => mailTo(service.service, address, what)
const tokenFor = (address: string, page: string) => mailedToken(service.service, address, page)

const request = ({ token }: SignedIn, newEmail: string) =>
  service.post(`${auth}/email-change/request`, { newEmail }, { key: token })
const confirm = ({ token: key }: SignedIn, token: string) =>
  service.post(`${auth}/email-change/confirm`, { token }, { key })

t.test(
  'an address changes when its mailed link is opened, once, and the old one is told and free',
  async (t) => {
    const user = await newUser(service)
    const newEmail = `new.${user.email}`
    t.match(await request(user, newEmail), {
      status: 201,
      body: { object: 'contact_change', status: 'pending', new_value_hint: 'n…@example.com' },
    })
    await signIn(service, user)
    const token = await tokenFor(newEmail, 'email-change')
    t.match(await confirm(user, token), { status: 200, body: { status: 'completed' } })
    t.match(await confirm(user, token), { status: 401, body: { code: 'IKW-AUTH-005' } })
    await signIn(service, { ...user, email: newEmail })
    const old = { email: user.email, password: user.password }
    await eventually(
      () => service.post(`${auth}/login`, old, open),
      ({ status }) => status === 401,
    )
    const me = await service.get(`${auth}/me`, { key: user.token })
    t.match(me.body, { email: newEmail, email_verified: true })
    await mailTo(service.service, user.email, goesOn)
    const again = { email: user.email, password: user.password, name: 'Second', merchantName: 'Second' }
    const registered = await eventually(
      () => service.post(`${auth}/register`, again, open),
      ({ status }) => status !== 409,
    )
    t.equal(registered.status, 201, 'somebody else may have the old address')
  },
)

t.test('each address that was left is told, however soon the next one is', async (t) => {
  const user = await newUser(service)
  const { executor } = service.service.runtime.dependencies
  const envelope = { user: user.id, actor: 'test', correlation: 'test' }
  const move = (from: string, email: string) => {
    const data = { from, email, held: [], replaces: user.id }
    return { command: { type: 'ChangeEmail', data }, envelope }
  }
  const [second, third] = [`second.${user.email}`, `third.${user.email}`]
  // Both before any mail is on its way.
  await executor.sendAll(users, user.id, [move(user.email, second), move(second, third)])
  for (const left of [user.email, second]) t.ok(await mailTo(service.service, left, goesOn), left)
})

t.test('of two who want one address the first to confirm has it', async (t) => {
  const [one, other] = [await newUser(service), await newUser(service)]
  const wanted = `wanted.${one.email}`
  const [first, second] = [await request(one, wanted), await request(other, wanted)]
  const tokens = [
    await changeToken(service.service, one.id, String(first.body['id'])),
    await changeToken(service.service, other.id, String(second.body['id'])),
  ]
  const answers = [confirm(one, tokens[0]!), confirm(other, tokens[1]!)]
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  t.strictSame(statuses.toSorted(), [200, 409])
  t.match(await request(await newUser(service), wanted), { status: 409, body: { code: 'IKW-RES-004' } })
})

t.test('a change that was canceled or replaced cannot be confirmed', async (t) => {
  const user = await newUser(service)
  const first = await request(user, `first.${user.email}`)
  const second = await request(user, `second.${user.email}`)
  const id = String(second.body['id'])
  t.match(await confirm(user, await changeToken(service.service, user.id, String(first.body['id']))), {
    status: 401,
  })
  const cancel = (body: object) => service.post(`${auth}/email-change/cancel`, body, { key: user.token })
  t.match(await cancel({ requestId: String(first.body['id']) }), { status: 404 })
  t.match(await cancel({}), { status: 200, body: { id, status: 'canceled' } })
  t.match(await confirm(user, await changeToken(service.service, user.id, id)), { status: 401 })
})

t.test('with a second factor a change needs a challenge; with a challenge it needs no link', async (t) => {
  const user = await newUser(service)
  const { codes } = await withTotp(service, user)
  t.match(await request(user, `x.${user.email}`), { status: 400, body: { param: '/challengeId' } })
  const challengeId = await proof(service, user, { purpose: 'change_email', code: codes[0]! })
  const newEmail = `proven.${user.email}`
  const changed = await service.post(`${auth}/change-email`, { challengeId, newEmail }, { key: user.token })
  t.match(changed, { status: 200, body: { email: newEmail, email_verified: false } })
  const token = await tokenFor(newEmail, 'verify-email')
  t.match(await service.post(`${auth}/verify-email`, { token }, { key: user.token }), { status: 200 })
  await mailTo(service.service, user.email, goesOn)
})

t.test('a user is written to in their language, each time as text and as HTML', async (t) => {
  const user = await newUser(service)
  const key = { key: user.token }
  const [newEmail, phone] = [`new.${user.email}`, newPhone()]
  await tokenFor(user.email, 'verify-email')
  const french = await mailed(user.email, /<html lang="fr">/)
  t.match(french, /^Content-Type: text\/plain/m)
  t.equal((await service.call('PATCH', `${auth}/personal-info`, { language: 'en' }, key)).status, 200)
  for (const [path, body] of [
    ['verify-email/resend', undefined],
    ['forgot-password', { email: user.email }],
    ['mfa/challenge', { purpose: 'change_email' }],
    ['email-change/request', { newEmail }],
    ['phone-change/request', { newPhone: phone }],
  ] as const)
    t.ok((await service.post(`${auth}/${path}`, body, path === 'forgot-password' ? open : key)).status < 300)
  await withTotp(service, user)
  const texts = [
    [user.email, 'Confirm your e-mail address'],
    [user.email, 'Choose a new password'],
    [user.email, '\\d{6} is your code'],
    [user.email, 'Authenticator added'],
    [newEmail, 'Confirm your new e-mail address'],
  ] as const
  for (const [address, subject] of texts) {
    const mail = await mailed(address, new RegExp(`^Subject: ${subject}`, 'm'))
    t.match(mail, /^Content-Type: text\/plain[^]*^Hello|is your code\./m, subject)
    t.match(mail, /^Content-Type: text\/html[^]*<html lang="en">/m, subject)
  }
  t.match(await textTo(service.service, phone), /^\d{6} is your code/)
})

t.test('a mailed link signs in once, also while passwords are locked', async (t) => {
  const user = await newUser(service)
  const address = { token: await tokenFor(user.email, 'verify-email') }
  t.equal((await service.post(`${auth}/verify-email`, address, { key: user.token })).status, 200)
  const wrong = { email: user.email, password: 'encore quatre mots au hasard' }
  await Promise.all(Array.from({ length: 10 }, () => service.post(`${auth}/login`, wrong, open)))
  t.match(await service.post(`${auth}/login`, { ...wrong, password: user.password }, open), { status: 423 })
  const asked = await service.post(`${auth}/magic-link`, { email: user.email }, open)
  const unknown = await service.post(`${auth}/magic-link`, { email: `nobody.${user.email}` }, open)
  t.strictSame([unknown.status, unknown.body], [asked.status, asked.body])
  const token = await tokenFor(user.email, 'magic-link')
  const used = await service.post(`${auth}/magic-link/verify`, { token }, open)
  t.match(used, { status: 200, body: { object: 'auth_session', user: { email: user.email } } })
  t.match(await service.post(`${auth}/magic-link/verify`, { token }, open), { status: 401 })
})
