import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import t, { type Test } from 'tap'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import type { MerchantClient } from '../support/service.ts'
import { newUser, signIn, type SignedIn } from '../support/identities/sign-in.ts'
import { startTwoApis } from '../support/processes/two-apis.ts'

/** Whoever revokes something is promised that it is good nowhere after so long. */
const promisedMs = 1_000
const auth = '/api/v1/auth'

const { runtime, credentials, clients } = await startTwoApis(t)
const [one, other] = clients
const { executor } = runtime.dependencies
const envelope = {
  merchant: credentials.merchant_id,
  livemode: false,
  actor: 'test',
  correlation: randomUUID(),
}
const { owner_email: email, owner_password: password } = credentials
const owner = await signIn(one, { email, password })
const bearer = (token: string) => ({ key: token })

type Ask = (client: MerchantClient) => Promise<{ readonly status: number }>

const balanceWith =
  (key: string): Ask =>
  (client) =>
    client.get('/api/v1/balance', { key })

/** Refuses what is asked after this, where it was answered at once, elsewhere within the promised time. */
async function isOver(
  t: Test,
  ask: Ask,
  { answeredBy, refused }: { answeredBy?: MerchantClient; refused: number },
) {
  const since = performance.now()
  if (answeredBy) t.equal((await ask(answeredBy)).status, refused, 'at once where it was answered')
  await lawOver(t, clients, async (client) => {
    let acceptedMs = 0
    await eventually(
      async () => {
        const askedAt = performance.now()
        const { status } = await ask(client)
        if (status !== refused) acceptedMs = askedAt - since
        return status
      },
      (status) => status === refused,
    )
    t.ok(acceptedMs <= promisedMs, `the last that was let in came ${Math.round(acceptedMs)} ms later`)
    t.equal((await ask(client)).status, refused)
  })
}

/** What one process has let in, the other may learn of a moment later. */
async function heatedUp(t: Test, ask: Ask): Promise<void> {
  await lawOver(t, clients, async (client) => {
    const answer = await eventually(
      () => ask(client),
      ({ status }) => status === 200,
    )
    t.equal(answer.status, 200, 'known to both')
  })
}

t.test('a revoked key is refused at once where it was revoked, and everywhere within a second', async (t) => {
  await lawOver(t, clients, async (client) => {
    const body = { name: 'Shop', environment: 'sandbox', scopes: ['balance.read'] }
    const issued = await client.post<{ id: string; key: string }>(
      `${auth}/api-keys`,
      body,
      bearer(owner.token),
    )
    const ask = balanceWith(issued.body.key)
    await heatedUp(t, ask)
    const path = `${auth}/api-keys/${issued.body.id}`
    t.equal((await client.call('DELETE', path, undefined, bearer(owner.token))).status, 200)
    await isOver(t, ask, { answeredBy: client, refused: 401 })
  })
})

t.test('so is a key that was replaced', async (t) => {
  const body = { name: 'Shop', environment: 'sandbox', scopes: ['balance.read'] }
  const issued = await one.post<{ id: string; key: string }>(`${auth}/api-keys`, body, bearer(owner.token))
  const ask = balanceWith(issued.body.key)
  await heatedUp(t, ask)
  const rolled = await other.post<{ key: string }>(
    `${auth}/api-keys/${issued.body.id}/roll`,
    {},
    bearer(owner.token),
  )
  await heatedUp(t, balanceWith(rolled.body.key))
  await isOver(t, ask, { answeredBy: other, refused: 401 })
})

/** Works for the first merchant now. */
async function member(): Promise<SignedIn> {
  const person = await newUser(one)
  const command = { type: 'AddMember', data: { user: person.id, role: 'admin' } } as const
  await executor.send(merchant, credentials.merchant_id, command, envelope)
  const switching = { merchantId: credentials.merchant_id }
  const { body } = await one.post(`${auth}/switch-merchant`, switching, bearer(person.token))
  return { ...person, token: String(body['access_token']) }
}

t.test('so are the sessions of a member who was removed', async (t) => {
  const person = await member()
  const ask = balanceWith(person.token)
  await heatedUp(t, ask)
  const path = `/api/v1/merchant/team/${person.id}`
  t.equal((await other.call('DELETE', path, undefined, bearer(owner.token))).status, 200)
  t.not((await ask(other)).status, 200, 'at once where it was answered')
  await isOver(t, ask, { refused: 401 })
})

t.test('so is a session that its user ends elsewhere', async (t) => {
  const person = await newUser(one)
  const second = await signIn(other, person)
  const ask: Ask = (client) => client.get(`${auth}/me`, bearer(second.token))
  await heatedUp(t, ask)
  const path = `${auth}/sessions/${second.session}`
  t.equal((await one.call('DELETE', path, undefined, bearer(person.token))).status, 200)
  await isOver(t, ask, { answeredBy: one, refused: 401 })
})

/** A request that was let in and has not sent its body yet. Returns how to send it, and what is answered. */
async function heldBack(client: MerchantClient, path: string, { key, body }: { key: string; body: object }) {
  const text = JSON.stringify(body)
  const headers = { 'content-type': 'application/json', 'content-length': String(text.length) }
  const asking = request(client.url + path, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${key}`, expect: '100-continue' },
  })
  asking.flushHeaders()
  await once(asking, 'continue')
  return async () => {
    asking.end(text)
    const [answer] = await once(asking, 'response')
    return (answer.resume() as { statusCode: number }).statusCode
  }
}

t.test('nor does a request go on that was let in before and holds its body back', async (t) => {
  const wanted = { name: 'Shop', environment: 'sandbox', scopes: ['balance.read', 'payments.write'] }
  const person = await newUser(one)
  const second = await signIn(one, person)
  const { body: made } = await one.post<{ id: string; key: string }>(
    `${auth}/api-keys`,
    wanted,
    bearer(person.token),
  )
  const payment = { amount: 500, currency: 'XOF', transaction_country: 'CI' }
  const held = [
    await heldBack(one, `${auth}/passkeys/registration/begin`, { key: second.token, body: {} }),
    await heldBack(one, `${auth}/api-keys`, { key: second.token, body: wanted }),
    await heldBack(one, '/api/v1/payment-intents', { key: made.key, body: payment }),
  ]
  for (const key of [second.token, made.key]) t.equal((await one.get('/api/v1/balance', { key })).status, 200)
  for (const path of [`sessions/${second.session}`, `api-keys/${made.id}`])
    t.equal((await one.call('DELETE', `${auth}/${path}`, undefined, bearer(person.token))).status, 200)
  for (const goOn of held) t.equal(await goOn(), 401)
})

t.test('whoever works for a suspended merchant changes nothing a second later', async (t) => {
  const person = await member()
  const body = { name: 'Shop', environment: 'sandbox', scopes: ['balance.read'] }
  const ask: Ask = async (client) => {
    const { status } = await client.post(`${auth}/api-keys`, body, bearer(person.token))
    return { status: status === 201 ? 200 : status }
  }
  await heatedUp(t, ask)
  const suspend = { type: 'SuspendMerchant', data: { reason: 'Test' } } as const
  await executor.send(merchant, credentials.merchant_id, suspend, envelope)
  await isOver(t, ask, { refused: 403 })
})
