import { randomUUID } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { gatewayTexter } from '../../infra/sms/gateway.ts'
import { TextRefusedError } from '../../packages/kernel/ports/texts.ts'
import { eventually } from '../support/eventually.ts'
import { holdOwnAppends } from '../support/event-store/held-appends.ts'
import { mailedToken, mailTo, textTo } from '../support/identities/mails.ts'
import { emailBefore, newPhone, phoneBefore, phoneChange } from '../support/identities/phone-samples.ts'
import { proof, withTotp } from '../support/identities/second-factors.ts'
import { startService, type TestService } from '../support/service.ts'
import { as, goodPassword, newUser, signIn, type SignedIn } from '../support/identities/sign-in.ts'

const auth = '/api/v1/auth'
const open = { key: '' }
const other = 'encore quatre mots au hasard'
const taken = { status: 409, body: { code: 'IKW-RES-004' } }

let service: TestService

t.before(async () => {
  service = await startService(t)
})

const info = async (user: SignedIn) => (await service.get(`${auth}/personal-info`, as(user))).body
const verify = (user: SignedIn, body: object) => service.post(`${auth}/phone-change/verify`, body, as(user))
const register = (body: object) =>
  service.post(
    `${auth}/register`,
    { password: goodPassword, name: 'Awa', merchantName: 'Awa', ...body },
    open,
  )

/** The code in the message that went to this number. */
async function sentTo(phone: string): Promise<string> {
  const text = await textTo(service.service, phone)
  t.match(text, /^\d{6} est votre code, .{0,100}$/)
  return text.slice(0, 6)
}

const wrong = (code: string) => (code === '000000' ? '000001' : '000000')

t.test('a number changes when the code that goes there comes back, once', async (t) => {
  const [user, phone] = [await newUser(service), newPhone()]
  const asked = await service.post(`${auth}/phone-change/request`, { newPhone: phone }, as(user))
  t.match(asked, { status: 201, body: { object: 'contact_change', kind: 'phone', status: 'pending' } })
  t.match(await info(user), { phone: null, phone_verified: false })
  const code = await sentTo(phone)
  t.match(await verify(user, { code: wrong(code) }), { status: 401, body: { code: 'IKW-AUTH-004' } })
  t.match(await verify(user, {}), { status: 400, body: { param: '/code' } })
  t.match(await verify(user, { code }), { status: 200, body: { status: 'completed' } })
  t.match(await info(user), { phone, phone_verified: true })
  t.match(await verify(user, { code }), { status: 409 })
})

t.test('a proved number is one user’s alone, until that user leaves it', async (t) => {
  const [one, two, phone] = [await newUser(service), await newUser(service), newPhone()]
  const [first, second] = [await phoneChange(service, one, phone), await phoneChange(service, two, phone)]
  const { codes } = service.service.runtime.dependencies
  const both = await Promise.all([
    codes.of(first).then((code) => verify(one, { code })),
    codes.of(second).then((code) => verify(two, { code })),
  ])
  t.strictSame(both.map(({ status }) => status).toSorted(), [200, 409])
  const [owner, loser] = both[0].status === 200 ? [one, two] : [two, one]
  const challengeId = await proof(service, loser, { purpose: 'change_phone' })
  t.match(await service.post(`${auth}/change-phone`, { challengeId, newPhone: phone }, as(loser)), taken)
  const next = await phoneChange(service, owner)
  t.match(await verify(owner, { requestId: next, code: await codes.of(next) }), { status: 200 })
  const again = await eventually(
    () => service.post(`${auth}/phone-change/request`, { newPhone: phone }, as(loser)),
    ({ status }) => status !== 409,
  )
  t.equal(again.status, 201)
})

t.test('the newest change counts, for its user alone, and five wrong codes end it', async (t) => {
  const [user, stranger] = [await newUser(service), await newUser(service)]
  const [older, newer] = [await phoneChange(service, user), await phoneChange(service, user)]
  const { codes } = service.service.runtime.dependencies
  t.match(await verify(user, { requestId: older, code: await codes.of(older) }), { status: 404 })
  const code = await codes.of(newer)
  t.match(await verify(stranger, { requestId: newer, code }), { status: 404 })
  t.match(await service.get(`${auth}/phone-change/requests/${newer}`, as(stranger)), { status: 404 })
  const guesses = await Promise.all(Array.from({ length: 8 }, () => verify(user, { code: wrong(code) })))
  t.equal(guesses.filter(({ status }) => status === 401).length, 5)
  t.match(await verify(user, { code }), { status: 409 })
})

t.test('a code for a new number is no proof of who is signed in', async (t) => {
  const user = await newUser(service)
  await withTotp(service, user)
  t.match(await service.post(`${auth}/phone-change/request`, { newPhone: newPhone() }, as(user)), {
    status: 400,
    body: { param: '/challengeId' },
  })
  const thief = await newUser(service)
  const change = await phoneChange(service, thief)
  const code = await service.service.runtime.dependencies.codes.of(change)
  t.equal((await service.post(`${auth}/mfa/verify`, { challengeId: change, code }, open)).status, 200)
  const body = { challengeId: change, newPhone: newPhone() }
  t.match(await service.post(`${auth}/change-phone`, body, as(thief)), { status: 403 })
})

t.test('address, number and password change together under one challenge', async (t) => {
  const user = await newUser(service)
  const challengeId = await proof(service, user, { purpose: 'sensitive_update' })
  const [newEmail, phone] = [`new.${user.email}`, newPhone()]
  const update = (body: object) =>
    service.post(`${auth}/personal-info/sensitive`, { challengeId, ...body }, as(user))
  t.match(await update({ newEmail, newPhone: phone, newPassword: other }), {
    status: 200,
    body: { email: newEmail, email_verified: false, phone, phone_verified: false },
  })
  t.match(await update({ newPassword: goodPassword }), { status: 403, body: { code: 'IKW-AUTHZ-004' } })
  await signIn(service, { email: newEmail, password: other })
})

t.test('a proven address that is only spelled otherwise stays proven', async (t) => {
  const user = await newUser(service)
  const token = await mailedToken(service.service, user.email, 'verify-email')
  t.match(await service.post(`${auth}/verify-email`, { token }, as(user)), { status: 200 })
  const [newEmail, again] = [user.email.toUpperCase(), user.email.replace(/^./, (one) => one.toUpperCase())]
  const challengeId = await proof(service, user, { purpose: 'sensitive_update' })
  const update = { challengeId, newEmail }
  t.match(await service.post(`${auth}/personal-info/sensitive`, update, as(user)), {
    status: 200,
    body: { email: newEmail, email_verified: true },
  })
  const change = { challengeId: await proof(service, user, { purpose: 'change_email' }), newEmail: again }
  t.match(await service.post(`${auth}/change-email`, change, as(user)), {
    status: 200,
    body: { email: again, email_verified: true },
  })
})

t.test('an address may be proven while it is spelled otherwise', async (t) => {
  const user = await newUser(service)
  const token = await mailedToken(service.service, user.email, 'verify-email')
  const challengeId = await proof(service, user, { purpose: 'sensitive_update' })
  const update = { challengeId, newEmail: user.email.toUpperCase() }
  // Counted once it is read that the address is not proven yet.
  const held = holdOwnAppends(service.service.runtime.dependencies.store, 'SignInMailRequested')
  const asked = service.post(`${auth}/personal-info/sensitive`, update, as(user))
  await held.begun
  t.match(await service.post(`${auth}/verify-email`, { token }, as(user)), { status: 200 })
  held.release()
  t.match(await asked, { status: 200, body: { email: update.newEmail, email_verified: true } })
})

t.test('of several changes none is made where one is refused', async (t) => {
  const [owner, user] = [await newUser(service), await newUser(service)]
  const phone = newPhone()
  const { body: asked } = await service.post(`${auth}/phone-change/request`, { newPhone: phone }, as(owner))
  const code = (await textTo(service.service, phone)).slice(0, 6)
  t.equal(
    (await service.post(`${auth}/phone-change/verify`, { code }, as(owner))).status,
    200,
    JSON.stringify(asked),
  )
  const challengeId = await proof(service, user, { purpose: 'sensitive_update' })
  const changes = { newEmail: `new.${user.email}`, newPhone: phone, newPassword: other }
  const refused = await service.post(`${auth}/personal-info/sensitive`, { challengeId, ...changes }, as(user))
  t.match(refused, { status: 409, body: { code: 'IKW-RES-004' } })
  t.match((await service.get(`${auth}/me`, as(user))).body, { email: user.email, phone: null })
  await signIn(service, user)
})

t.test('of several changes all are made, whoever proves the number meanwhile', async (t) => {
  const [user, another] = [await newUser(service), await newUser(service)]
  const challengeId = await proof(service, user, { purpose: 'sensitive_update' })
  const phone = newPhone()
  const body = { challengeId, newEmail: `new.${user.email}`, newPhone: phone, newPassword: other }
  const requestId = await phoneChange(service, another, phone)
  const { codes, store } = service.service.runtime.dependencies
  const code = await codes.of(requestId)
  const held = holdOwnAppends(store, 'UserEmailChanged')
  const asked = service.post(`${auth}/personal-info/sensitive`, body, as(user))
  await held.begun
  t.match(await verify(another, { requestId, code }), { status: 200 })
  held.release()
  t.match(await asked, { status: 200, body: { email: body.newEmail, phone, phone_verified: false } })
  await signIn(service, { email: body.newEmail, password: other })
})

t.test('what was proved before registration is verified, and only that', async (t) => {
  const [email, phone] = [`${newPhone().slice(1)}@example.com`, newPhone()]
  const [emailChallengeId, phoneChallengeId] = [
    await emailBefore(service, email),
    await phoneBefore(service, phone),
  ]
  const proofs = { email, phone, emailChallengeId, phoneChallengeId }
  const refused = { status: 403, body: { code: 'IKW-AUTHZ-004' } }
  t.match(await register(proofs), refused, 'not answered')
  const { codes } = service.service.runtime.dependencies
  const check = async (path: string, challengeId: string) => {
    const body = { challengeId, code: await codes.of(challengeId) }
    return service.post(`${auth}/pre-signup/${path}/verify`, body, open)
  }
  t.match(await check('phone', emailChallengeId), { status: 401 }, 'another kind')
  t.match(await check('email', emailChallengeId), { status: 200, body: { status: 'verified' } })
  const code = await sentTo(phone)
  t.equal(code, await codes.of(phoneChallengeId))
  t.match(await check('phone', phoneChallengeId), { status: 200 })
  t.match(await register({ ...proofs, email: `x${email}` }), refused, 'another address')
  t.match(await register({ ...proofs, phone: newPhone() }), refused, 'another number')
  const { status, body } = await register(proofs)
  t.equal(status, 201)
  const me = await service.get(`${auth}/me`, { key: String(body['access_token']) })
  t.match(me.body, { email_verified: true, phone, phone_verified: true })
  const squatter = await newUser(service)
  t.match(await service.post(`${auth}/phone-change/request`, { newPhone: phone }, as(squatter)), taken)
})

t.test('who has not registered yet is written to in the language that their browser asks for', async (t) => {
  const ask = async (language: string | undefined) => {
    const [email, phone] = [`${randomUUID()}@example.com`, newPhone()]
    const how = { ...open, headers: language === undefined ? {} : { 'accept-language': language } }
    await service.post(`${auth}/pre-signup/email/challenge`, { email }, how)
    await service.post(`${auth}/pre-signup/phone/challenge`, { phone }, how)
    return [await mailTo(service.service, email, /./), await textTo(service.service, phone)] as const
  }
  const [english, text] = await ask('de, en;q=0.8, fr;q=0.5')
  t.match(english, /^Subject: \d{6} is your code/m)
  t.match(english, '<html lang="en">')
  t.match(text, /^\d{6} is your code/)
  for (const language of ['fr-CI, en;q=0.9', 'de', undefined]) {
    const [french, sent] = await ask(language)
    t.match(french, '<html lang="fr">', String(language))
    t.match(sent, /^\d{6} est votre code/, String(language))
  }
})

t.test('a gateway gets each message with the same key until it takes it', async (t) => {
  const seen: { headers: IncomingHttpHeaders; body: string }[] = []
  const answers = [500, 400, 200]
  const gateway = createServer((request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => (body += part.toString()))
    request.on('end', () => {
      seen.push({ headers: request.headers, body })
      response.writeHead(answers[seen.length - 1]!).end('{}')
    })
  })
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve))
  t.teardown(() => gateway.close())
  const { port } = gateway.address() as AddressInfo
  const texter = gatewayTexter({
    url: `http://me:p%40ss@127.0.0.1:${port}/sms`,
    from: 'IKW',
    timeoutMs: 5_000,
  })
  const message = { id: 'one', to: '+2250700000042', text: '123456' }
  const failures: unknown[] = []
  for (const _ of answers) await texter.send(message).catch((error: unknown) => failures.push(error))
  t.strictSame(
    failures.map((error) => error instanceof TextRefusedError),
    [false, true],
  )
  t.strictSame(JSON.parse(seen[2]!.body), { ...message, from: 'IKW' })
  t.match(seen[2]!.headers, {
    'idempotency-key': 'one',
    authorization: `Basic ${Buffer.from('me:p@ss').toString('base64')}`,
  })
})
