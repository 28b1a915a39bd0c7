import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Role } from '../../packages/contract/access/callers.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { ownerSession } from '../support/identities/identity-samples.ts'
import type { SignedIn } from '../support/identities/sign-in.ts'
import { member } from '../support/identities/users.ts'
import { startService, type TestService } from '../support/service.ts'

const path = '/api/v1/auth/api-keys'
const wanted = { name: 'Shop', environment: 'sandbox', scopes: ['payouts.write'] }

let service: TestService
let owner: SignedIn

t.before(async () => {
  service = await startService(t)
  owner = await ownerSession(service)
})

/** As a process leaves it that dies before it has kept the answer. */
async function loseAnswer(key: string): Promise<void> {
  const text = `update answers set status = 'running', http_status = null, body = null,
    in_hand_at = '-infinity' where key = $1`
  await service.service.runtime.postgres.pool.query(text, [key])
}

async function memberAs(role: Role, person: SignedIn): Promise<void> {
  const envelope = { merchant: owner.merchant, livemode: false, actor: 'test', correlation: 'test' }
  const command = { type: 'AddMember', data: { user: person.id, role } } as const
  await service.service.runtime.dependencies.executor.send(merchant, owner.merchant, command, envelope)
}

t.test('what was lost of an answer is shown again, also to who may no longer ask for it', async (t) => {
  const admin = await member(service, 'admin')
  const switched = await service.post(
    '/api/v1/auth/switch-merchant',
    { merchantId: owner.merchant },
    { key: admin.token },
  )
  const token = String(switched.body['access_token'])
  const key = randomUUID()
  const options = { key: token, headers: { 'idempotency-key': key } }
  const first = await service.post(path, wanted, options)
  t.equal(first.status, 201)
  const rolling = `${path}/${String((await service.post(path, wanted, { key: owner.token })).body['id'])}/roll`
  const rolled = await service.post(rolling, {}, options)
  t.equal(rolled.status, 200)
  await memberAs('developer', admin)
  await loseAnswer(key)
  const [again, rolledAgain] = [
    await service.post(path, wanted, options),
    await service.post(rolling, {}, options),
  ]
  t.strictSame([again.status, again.body], [first.status, first.body])
  t.strictSame([rolledAgain.status, rolledAgain.body], [rolled.status, rolled.body])
  t.equal((await service.post(path, wanted, { key: token })).status, 403, 'and nothing else')
})

const issue = async () => String((await service.post(path, wanted, { key: owner.token })).body['id'])

for (const [name, change] of Object.entries({
  'whose answer is no longer kept': `update answers set started_at = now() - interval '31 days' where key = $1`,
  'that was refused after it had replaced its own': 'delete from answers where key = $1',
})) {
  t.test(`the Idempotency-Key of a request ${name} rolls no other API key`, async (t) => {
    const key = randomUUID()
    const options = { key: owner.token, headers: { 'idempotency-key': key } }
    const [one, other] = [await issue(), await issue()]
    const rolled = await service.post(`${path}/${one}/roll`, {}, options)
    t.equal(rolled.status, 200)
    await service.service.runtime.postgres.pool.query(change, [key])
    const refused = await service.post(`${path}/${other}/roll`, {}, options)
    t.match(refused, { status: 409, body: { code: 'IKW-REQ-003' } })
    t.match((await service.get(`${path}/${other}`, { key: owner.token })).body, { status: 'active' })
    const again = await service.post(`${path}/${one}/roll`, {}, options)
    t.strictSame([again.status, again.body], [rolled.status, rolled.body], 'its own repeat is shown it')
  })
}

t.test('a key for repeats that was another request’s shows nobody a secret, however late', async (t) => {
  const key = randomUUID()
  const options = { key: owner.token, headers: { 'idempotency-key': key } }
  const first = await service.post(path, wanted, options)
  t.equal(first.status, 201)
  // Answers are kept for 30 days.
  await service.service.runtime.postgres.pool.query(
    `update answers set started_at = now() - interval '31 days' where key = $1`,
    [key],
  )
  const other = await service.post(path, { ...wanted, scopes: ['payments.read'] }, options)
  t.match(other, { status: 409, body: { code: 'IKW-REQ-003' } })
  t.notMatch(JSON.stringify(other.body), /ik_test_/)
  const again = await service.post(path, wanted, options)
  t.strictSame([again.status, again.body], [first.status, first.body], 'its own repeat is shown it')
})
