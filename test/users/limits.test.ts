import t from 'tap'
import { startService, type TestService } from '../support/service.ts'
import { newUser } from '../support/sign-in.ts'

const auth = '/api/v1/auth'

let service: TestService

t.before(async () => {
  service = await startService(t, { RATE_LIMIT: 'on' })
})

t.test('nobody can fill a foreign mailbox, neither with one account nor with several', async (t) => {
  const [one, two] = [await newUser(service), await newUser(service)]
  const resend = () => service.post(`${auth}/verify-email/resend`, undefined, { key: one.token })
  const limited = { status: 429, body: { code: 'IKW-RATE-001' } }
  t.equal((await resend()).status, 200)
  t.match(await resend(), limited)
  const newEmail = `foreign.${one.email}`
  const ask = (key: string) => service.post(`${auth}/email-change/request`, { newEmail }, { key })
  t.equal((await ask(one.token)).status, 201)
  const refused = await ask(two.token)
  t.match(refused, limited)
  t.ok(Number(refused.headers.get('retry-after')) > 0)
})
