import { randomUUID } from 'node:crypto'
import t from 'tap'
import { anyIdentity } from '../../packages/contract/identity.ts'
import { hostedCardToken } from '../../packages/contract/payments/sandbox.ts'
import type { Request } from '../../packages/contract/routes.ts'
import { paymentLink } from '../../packages/domain/payment-links/payment-link.ts'
import { reserveLink } from '../../services/api/actions/hosted/checkout-links.ts'
import { answerPayment, byPhone, waiting } from '../support/commerce/checkout.ts'
import { testConservation } from '../support/commerce/billing-laws.ts'
import { eventually } from '../support/eventually.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService

t.before(async () => {
  service = await startService(t)
})

interface Link {
  readonly id: string
  readonly slug: string
}

async function createLink(body: Readonly<Record<string, unknown>>): Promise<Link> {
  const answer = await service.post<Link & Record<string, unknown>>('/api/v1/payment_links', body)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

/** The session that a browser is led to. */
async function follow({ slug }: Link, cookie?: string) {
  const { status, headers, body } = await service.get(`/pay/${slug}`, {
    key: '',
    ...(cookie !== undefined && { headers: { cookie } }),
  })
  const session = new URL(headers.get('location') ?? 'http://none/').pathname.split('/').at(-1)!
  return { status, session, body, cookie: (headers.get('set-cookie') ?? '').split(';')[0]! }
}

const pay = (session: string, body: unknown = byPhone()) =>
  service.post(`/api/checkout/${session}/pay`, body, { key: '' })
const shown = async ({ id }: Link) => (await service.get(`/api/v1/payment_links/${id}`)).body

const idIn = (id: string) => anyIdentity(id)!

async function createIntent(): Promise<string> {
  const wanted = { amount: 5_000, currency: 'XOF', transaction_country: 'CI' }
  return String((await service.post('/api/v1/payment-intents', wanted)).body['id'])
}

const lamp = { amount: 5_000, currency: 'XOF', country: 'CI', description: 'Solar lamp' }

t.test('a late try with a payment that has ended takes the link from nobody', async (t) => {
  const link = idIn((await createLink({ ...lamp, isSingleUse: true })).id)
  const [before, newest] = [await createIntent(), await createIntent()]
  await service.post(`/api/v1/payment-intents/${before}/cancel`, {})
  const { credentials, runtime } = service.service
  const { dependencies } = runtime
  const owner = { merchant: credentials.merchant_id, livemode: false }
  const by = { ...owner, actor: 'test', correlation: 'test' }
  const send: Request['send'] = (decider, id, command, options) =>
    dependencies.executor.send(decider, id, command, { ...by, ...options } as never)
  const reserve = (paymentIntent: string) =>
    reserveLink(
      { owner, dependencies, send },
      { link, session: randomUUID(), paymentIntent: idIn(paymentIntent) },
    )
  await reserve(newest)
  await reserve(before)
  const { state } = await dependencies.executor.current(paymentLink, link)
  t.match(state, { reserved: { paymentIntent: idIn(newest) } })
  t.match((await service.get(`/api/v1/payment-intents/${newest}`)).body, {
    status: 'requires_payment_method',
  })
})

t.test('two payers of one link are two payments, and coming back is the same one', async (t) => {
  const link = await createLink(lamp)
  const awa = await follow(link)
  t.equal(awa.status, 302)
  t.equal((await follow(link, awa.cookie)).session, awa.session)
  const ben = await follow(link)
  t.not(ben.session, awa.session)
  for (const { session } of [awa, ben]) {
    const { body } = await pay(session)
    await answerPayment(service, body['payment_intent'])
  }
  t.match(
    await eventually(
      () => shown(link),
      ({ uses }) => uses === 2,
    ),
    { status: 'active', uses: 2 },
  )
  const next = await eventually(
    () => follow(link, awa.cookie),
    ({ session }) => session !== awa.session,
  )
  t.equal(next.status, 302, 'whoever has paid may pay again')
})

t.test('where the payer chooses the amount and pays the fee, the merchant gets the amount', async (t) => {
  const link = await createLink({ currency: 'XOF', country: 'CI', feeMode: 'customer_pays' })
  const { session } = await follow(link)
  t.match(await pay(session), { status: 400, body: { code: 'IKW-CHK-004' } })
  const before = await available()
  const { status, body } = await pay(session, { ...byPhone(), collected: { amount: 10_000 } })
  t.equal(status, 200)
  t.match(await service.get(`/api/v1/checkout/sessions/${session}`), {
    body: { amount: 10_000, fee: 200, total_amount: 10_200, fee_mode: 'customer_pays' },
  })
  t.match(await service.get(`/api/v1/payment-intents/${String(body['payment_intent'])}`), {
    body: { amount: 10_200 },
  })
  await answerPayment(service, body['payment_intent'])
  await eventually(available, (now) => now === before + 10_000)
  t.match(await service.get(`/api/checkout/${session}/receipt`, { key: '' }), {
    body: { amount: 10_000, fee: 200 },
  })
})

t.test("a payer who is at the bank's page and chooses another amount is asked for that one", async (t) => {
  const link = await createLink({ currency: 'XOF', country: 'CI' })
  const { session } = await follow(link)
  const card = { payment_method: { type: 'card', card: { token: hostedCardToken } } }
  const press = (amount: number) => pay(session, { ...card, collected: { amount } })
  const first = await press(50_000)
  t.match(first.body, { status: 'requires_action', redirect_url: /^http/ })
  t.match((await press(50_000)).body, first.body, 'pressing twice is once')
  const other = await press(5_000)
  t.match(other.body, { status: 'requires_action', redirect_url: /^http/ })
  const amountOf = async ({ body }: typeof first) =>
    (await service.get(`/api/v1/payment-intents/${String(body['payment_intent'])}`)).body
  t.match(await amountOf(other), { amount: 5_000, status: 'requires_action' })
  t.match(await amountOf(first), { amount: 50_000, status: 'canceled' })
})

t.test('a payer who changes the amount before paying pays the last one', async (t) => {
  const link = await createLink({ currency: 'XOF', country: 'CI' })
  const { session } = await follow(link)
  const isDown = { ...waiting, msisdn: '+2250700000006' }
  const first = await pay(session, { ...byPhone(isDown), collected: { amount: 1_000 } })
  t.match(first, { status: 502, body: { code: 'IKW-TRANSFER-006' } })
  const { body } = await pay(session, { ...byPhone(), collected: { amount: 2_000 } })
  t.match(await service.get(`/api/v1/payment-intents/${String(body['payment_intent'])}`), {
    body: { amount: 2_000, status: 'processing' },
  })
})

async function available(): Promise<number> {
  const { body } = await service.get<{ available: { amount: number }[] }>('/api/v1/balance')
  return body.available[0]!.amount
}

t.test('a link for one payment is paid by one of ten who press at once', async (t) => {
  const link = await createLink({ ...lamp, isSingleUse: true })
  const payers = await Promise.all(Array.from({ length: 10 }, () => follow(link)))
  const answers = await Promise.all(payers.map(({ session }) => pay(session)))
  const going = answers.filter(({ status }) => status === 200)
  t.equal(going.length, 1, JSON.stringify(answers.map(({ status, body }) => [status, body['code']])))
  t.match(await follow(link), { status: 409, body: { code: 'IKW-RES-007' } }, 'a new payer has to wait')
  await answerPayment(service, going[0]!.body['payment_intent'])
  t.match(
    await eventually(
      () => shown(link),
      ({ uses }) => uses === 1,
    ),
    { status: 'completed' },
  )
  t.match(await follow(link), { status: 410, body: { code: 'IKW-RES-006' } })
  const who = going[0]!.body['id']
  const own = payers.find(({ session }) => session === who)!
  t.match(await follow(link, own.cookie), { status: 302, session: who }, 'who has paid sees that')
  for (const { session } of payers) {
    const { status, body } = await pay(session)
    t.ok(status === 400 || body['status'] === 'succeeded', JSON.stringify(body))
  }
})

t.test('when the payment of such a link fails, somebody else may pay it', async (t) => {
  const link = await createLink({ ...lamp, isSingleUse: true })
  const [awa, ben] = [await follow(link), await follow(link)]
  const { body: failing } = await pay(awa.session)
  t.match(await pay(ben.session), { status: 409, body: { code: 'IKW-RES-007' } })
  await answerPayment(service, failing['payment_intent'], 'failed')
  const { status, body } = await pay(ben.session)
  t.equal(status, 200)
  t.match(await pay(awa.session), { status: 409 })
  await answerPayment(service, body['payment_intent'])
  await eventually(
    () => shown(link),
    (now) => now['status'] === 'completed',
  )
})

t.test('a payer who was refused by the operator loses the link to the next one', async (t) => {
  const link = await createLink({ ...lamp, isSingleUse: true })
  const [awa, ben] = [await follow(link), await follow(link)]
  t.equal((await pay(awa.session, byPhone({ ...waiting, msisdn: '+2250700000006' }))).status, 502)
  const { status, body } = await pay(ben.session)
  t.equal(status, 200, JSON.stringify(body))
  t.match(await pay(awa.session), { status: 409, body: { code: 'IKW-RES-007' } })
})

t.test('a closed link takes nobody new, and lets finish whoever has begun', async (t) => {
  const link = await createLink(lamp)
  const { session, cookie } = await follow(link)
  const closed = await service.post(`/api/v1/payment_links/${link.id}/deactivate`)
  t.match(closed, { status: 200, body: { status: 'inactive' } })
  t.match(await follow(link), { status: 410, body: { code: 'IKW-RES-006' } })
  t.match(await follow(link, cookie), { status: 302, session })
  t.equal((await pay(session)).status, 200)
  const open = await service.post('/api/v1/checkout/sessions', { paymentLinkId: link.id })
  t.match(open, { status: 410 })
})

t.test('a link expires at its time', async (t) => {
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
  const link = await createLink({ ...lamp, expiresAt })
  await service.post('/api/test/clock', { advance_seconds: 3_600 })
  t.match(await follow(link), { status: 410 })
  await eventually(
    () => shown(link),
    ({ status }) => status === 'expired',
  )
  t.match(await service.post('/api/v1/payment_links', { ...lamp, expiresAt }), {
    status: 400,
    body: { param: '/expiresAt' },
  })
})

t.test('whoever comes back to a payment that outlasts its session is led to it', async (t) => {
  const link = await createLink(lamp)
  const { session, cookie } = await follow(link)
  const day = 24 * 3_600
  await service.post('/api/test/clock', { advance_seconds: day - 60 })
  t.equal((await pay(session)).status, 200)
  await service.post('/api/test/clock', { advance_seconds: 120 })
  t.match(await service.get(`/api/checkout/${session}/status`, { key: '' }), {
    body: { payment_status: 'processing' },
  })
  t.equal((await follow(link, cookie)).session, session, 'and not asked to pay once more')
  const { headers } = await service.get(`/pay/${link.slug}`, { key: '' })
  const [, seconds] = /Max-Age=(\d+)/.exec(headers.get('set-cookie')!)!
  t.ok(Number(seconds) > day, 'the browser knows it for longer than the session is open')
})

t.test('a session for a link has the terms of the link, and no others', async (t) => {
  const link = await createLink({ ...lamp, paymentMethodTypes: ['mobile_money'] })
  const open = (body: object) =>
    service.post('/api/v1/checkout/sessions', { paymentLinkId: link.id, ...body })
  t.match(await open({}), {
    status: 201,
    body: { amount: 5_000, payment_link: link.id, fee_mode: 'merchant_pays' },
  })
  t.match(await open({ amount: 4_000 }), { status: 400, body: { code: 'IKW-CHK-004', param: '/amount' } })
  t.match(await open({ currency: 'XAF' }), { status: 400, body: { code: 'IKW-CHK-004' } })
  t.match(await open({ paymentMethodTypes: ['card'] }), { status: 400, body: { code: 'IKW-CHK-003' } })
  const other = await createLink(lamp)
  t.match(await open({ paymentLinkV2Id: other.id }), { status: 400, body: { code: 'IKW-CHK-004' } })
  t.match(await open({ paymentLinkV2Id: link.id }), { status: 201 })
  t.match(await open({ paymentLinkId: '01932c5e-8f2a-7b3c-9d4e-5f6a7b8c9d0e' }), { status: 404 })
})

t.test('what is paid for may take several lines, none of which is turned around', async (t) => {
  const description = 'Lampe solaire\nGarantie\u202f: 2 ans'
  t.match(await shown(await createLink({ ...lamp, description })), { description })
  const turned = { ...lamp, description: 'Lamp \u202e5 000 F' }
  t.match(await service.post('/api/v1/payment_links', turned), {
    status: 400,
    body: { param: '/description', detail: 'description must be text without control characters' },
  })
})

t.test('a link has a QR code, and a list', async (t) => {
  const link = await createLink({ ...lamp, isSingleUse: true })
  const code = await fetch(`${service.url}/pay/${link.slug}/qr.svg`)
  t.equal(code.headers.get('content-type'), 'image/svg+xml')
  t.match(await code.text(), /^<svg /)
  t.equal((await fetch(`${service.url}/pay/unknown/qr.svg`)).status, 404)
  const listed = await service.get<{ data: Link[] }>('/api/v1/payment_links?is_single_use=true&status=active')
  t.equal(listed.body.data[0]!.id, link.id)
})

testConservation(() => service)
