import t from 'tap'
import { identity } from '../../packages/contract/identity.ts'
import { checkoutSession } from '../../packages/domain/checkout/checkout-session.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { readState } from '../../packages/kernel/history.ts'
import { checkoutProcess } from '../../services/processes/checkout.ts'
import { toolsOf } from '../../services/processes/runner/main.ts'
import { testConservation } from '../support/commerce/billing-laws.ts'
import { answerPayment, byPhone, openSession, waiting } from '../support/commerce/checkout.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { startService, type TestService } from '../support/service.ts'

// What strangers can do with a link or a session, and must not.

let service: TestService

t.before(async () => {
  service = await startService(t)
})

const lamp = { amount: 5_000, currency: 'XOF', country: 'CI', description: 'Solar lamp' }
const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'accept-language': 'en' }

async function createLink(
  body: Readonly<Record<string, unknown>> = lamp,
): Promise<{ readonly id: string; readonly url: string }> {
  const { body: link } = await service.post<{ id: string; url: string }>('/api/v1/payment_links', body)
  return { id: link.id, url: new URL(link.url).pathname }
}

async function sessionsOf(): Promise<number> {
  const { reads, store } = service.service.runtime.dependencies
  await reads.reached(await store.head(), 10_000)
  const { body } = await service.get<{ data: object[] }>('/api/v1/checkout/sessions?limit=100')
  return body.data.length
}

const pay = (id: string, body: unknown = byPhone()) =>
  service.post(`/api/checkout/${id}/pay`, body, { key: '' })

t.test('what is added to a link on its way to the payer does not close it', async (t) => {
  const link = await createLink()
  const followed = await service.get(`${link.url}?fbclid=IwAR0&utm_source=whatsapp`, {
    key: '',
    headers: html,
  })
  t.equal(followed.status, 302)
  const session = new URL(followed.headers.get('location')!).pathname
  t.equal((await service.get(`${session}?fbclid=IwAR0`, { key: '', headers: html })).status, 200)
  const french = await service.get(`${link.url}?lang=fr`, { key: '', headers: html })
  t.match(french.headers.get('location'), /\?lang=fr$/)
  await service.post(`/api/v1/payment_links/${link.id}/deactivate`)
  const closed = await service.get<string>(link.url, { key: '', headers: html })
  const [, inFrench] = /<a href="([^"]+)" lang="fr"/.exec(closed.body)!
  const again = await service.get<string>(inFrench!, { key: '', headers: html })
  t.equal(again.status, 410)
  t.match(again.body, /Ce lien est fermé/)
})

const looks: Readonly<Record<string, readonly [method: string, headers: Record<string, string>]>> = {
  'a proxy that asks for headers': ['HEAD', {}],
  WhatsApp: ['GET', { 'user-agent': 'WhatsApp/2.24.6.77 A' }],
  Facebook: [
    'GET',
    { 'user-agent': 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)' },
  ],
  Telegram: ['GET', { 'user-agent': 'TelegramBot (like TwitterBot)' }],
  'a browser that loads ahead': ['GET', { 'sec-purpose': 'prefetch;prerender' }],
}

t.test('a link that is only looked at opens no session, and says what it is for', async (t) => {
  const link = await createLink()
  const before = await sessionsOf()
  await lawOver(t, Object.entries(looks), async ([who, [method, headers]]) => {
    const { status, body } = await service.call<string>(method, link.url, undefined, { key: '', headers })
    t.equal(status, 200, who)
    if (method === 'GET') t.match(body, /og:description" content="5\s000\sF\sCFA · Solar lamp"/, who)
  })
  t.equal(await sessionsOf(), before)
  const cubot = { 'user-agent': 'Mozilla/5.0 (Linux; Android 9; CUBOT X19) AppleWebKit/537.36 Chrome/120' }
  t.equal((await service.get(link.url, { key: '', headers: cubot })).status, 302, 'a telephone')
  const [, onwards] = /href="([^"]+open=1[^"]*)"/.exec(
    (await service.get<string>(link.url, { key: '', headers: looks['Telegram']![1] })).body,
  )!
  const opened = await service.get(onwards!.replace('&amp;', '&'), {
    key: '',
    headers: looks['Telegram']![1],
  })
  t.equal(opened.status, 302, 'whoever was mistaken for a machine goes on')
})

t.test('it is the merchant who says where payers return to', async (t) => {
  const { id } = await openSession(service, {
    successUrl: 'https://shop.example/thanks?session={CHECKOUT_SESSION_ID}',
  })
  for (const return_url of [
    'https://evil.example/',
    'https://shop.example.evil.example/',
    'http://shop.example/',
  ])
    t.match(await pay(id, { ...byPhone(), return_url }), {
      status: 400,
      body: { code: 'IKW-REQ-001', param: '/return_url' },
    })
  t.equal((await pay(id, { ...byPhone(), return_url: 'https://shop.example/here' })).status, 200)
})

t.test('nobody tells anything to a session that has ended', async (t) => {
  const { id } = await openSession(service)
  await service.post(`/api/checkout/${id}/cancel`, undefined, { key: '' })
  const before = await service.get<{ data: object[] }>(`/api/v1/checkout/sessions/${id}/history`)
  const named = { ...byPhone(), collected: { name: 'Awa', email: 'late@example.com' } }
  t.match(await pay(id, named), { status: 400, body: { code: 'IKW-CHK-002' } })
  const after = await service.get<{ data: object[] }>(`/api/v1/checkout/sessions/${id}/history`)
  t.equal(after.body.data.length, before.body.data.length)
})

/** A payer who has pressed a moment ago: the try is attached, and its intent not made yet. */
async function pressed(): Promise<{ readonly id: string; readonly uuid: string; readonly intent: string }> {
  const { id } = await openSession(service, { deferPaymentIntentCreation: true })
  const uuid = identity(id, 'cs')!
  const { executor, store } = service.service.runtime.dependencies
  const session = await readState(store, checkoutSession, uuid)
  if (session.status === 'none') throw new Error('there is no session')
  const data = { amount: 5_000, fee: 0, ended: null }
  const { merchant, livemode } = session
  const envelope = { merchant, livemode, actor: 'test', correlation: 'test' }
  const { state } = await executor.send(checkoutSession, uuid, { type: 'AttachIntent', data }, envelope)
  if (state.status === 'none' || !state.attempt) throw new Error('nothing was attached')
  return { id, uuid, intent: state.attempt.paymentIntent }
}

t.test('whoever gives up while somebody presses leaves nothing that can be paid', async (t) => {
  const { id, intent } = await pressed()
  t.equal((await service.post(`/api/checkout/${id}/cancel`, undefined, { key: '' })).status, 200)
  const { store } = service.service.runtime.dependencies
  t.match(await readState(store, paymentIntent, intent), { status: 'canceled' })
})

t.test('a session that expires while somebody presses leaves nothing that can be paid', async (t) => {
  const { uuid, intent } = await pressed()
  const { dependencies } = service.service.runtime
  const session = await readState(dependencies.store, checkoutSession, uuid)
  if (session.status === 'none') throw new Error('there is no session')
  const { merchant, livemode, expiresAt } = session
  const timer = { id: '', kind: '', subject: uuid, merchant, livemode, dueAt: expiresAt, attempts: 0 }
  await checkoutProcess.timers!['checkout_expiry']!(timer, toolsOf(dependencies))
  t.match(await readState(dependencies.store, paymentIntent, intent), { status: 'canceled' })
})

t.test('nothing is opened that nobody could ever pay', async (t) => {
  const open = (body: object) =>
    service.post('/api/v1/checkout/sessions', { country: 'CI', currency: 'XOF', ...body })
  const link = (body: object) =>
    service.post('/api/v1/payment_links', {
      country: 'CI',
      currency: 'XOF',
      feeMode: 'customer_pays',
      ...body,
    })
  const refused = { status: 400, body: { code: 'IKW-CHK-003', param: '/paymentMethodTypes/0' } }
  t.match(
    await open({ amount: 50, paymentMethodTypes: ['mobile_money'] }),
    refused,
    'too little for operators',
  )
  t.match(await open({ amount: 50 }), { status: 201, body: { payment_method_types: ['card'] } })
  t.match(
    await link({ amount: 2_000_000, paymentMethodTypes: ['mobile_money'] }),
    refused,
    'too much with the fee',
  )
  t.match(await link({ amount: 2_000_000 }), { status: 201, body: { payment_method_types: ['card'] } })
  const most = { amount: 20_000_000, country: 'GN', currency: 'GNF' }
  t.match(await open(most), { status: 201, body: { payment_method_types: ['mobile_money'] } })
  t.match(await link(most), { status: 400, body: { code: 'IKW-TRANSFER-001', param: '/amount' } })
})

t.test('a session is quoted where it is paid', async (t) => {
  const { id } = await openSession(service)
  const quote = (body: unknown) => service.post(`/api/v1/checkout/sessions/${id}/fee_quote`, body)
  t.match(await quote({ country: 'SN' }), {
    status: 400,
    body: { code: 'IKW-TRANSFER-001', param: '/country' },
  })
  t.match(await quote({ country: 'CI', operator: waiting.operator }), { status: 200 })
})

t.test('while a merchant is suspended the page says so, and takes nothing', async (t) => {
  const { id } = await openSession(service)
  const { executor, store } = service.service.runtime.dependencies
  const session = await readState(store, checkoutSession, identity(id, 'cs')!)
  if (session.status === 'none') throw new Error('there is no session')
  const envelope = { merchant: session.merchant, livemode: false, actor: 'test', correlation: 'test' }
  const page = async () =>
    (await service.get<string>(`/checkout/session/${id}`, { key: '', headers: html })).body
  const order = (type: 'SuspendMerchant' | 'ActivateMerchant') =>
    executor.send(merchant, session.merchant, { type, data: { reason: 'test' } }, envelope)
  await order('SuspendMerchant')
  const suspended = await page()
  t.match(suspended, /takes no payments at the moment/)
  t.notMatch(suspended, /<form/)
  t.match(await pay(id), { status: 403, body: { code: 'IKW-MERCHANT-002' } })
  await order('ActivateMerchant')
  t.match(await page(), /<form/)
})

t.test('whoever comes too late to a link for one payment reads so', async (t) => {
  const link = await createLink({ ...lamp, isSingleUse: true })
  const follow = async () =>
    new URL((await service.get(link.url, { key: '' })).headers.get('location')!).pathname
  const [awa, ben] = [await follow(), await follow()]
  const { body } = await pay(awa.split('/').at(-1)!)
  await answerPayment(service, body['payment_intent'])
  const page = async () => (await service.get<string>(ben, { key: '', headers: html })).body
  t.match(await eventually(page, (text) => !text.includes('<form')), /This link is closed/)
})

t.test('a screen reader says first that nothing was paid, and why', async (t) => {
  const { url } = await openSession(service)
  const answer = await service.call<string>(
    'POST',
    `${new URL(url).pathname}/pay`,
    'PaymentMethod=mobile_money&Operator=wave&PhoneNumber=07',
    { key: '', headers: { ...html, 'content-type': 'application/x-www-form-urlencoded' } },
  )
  t.equal(answer.status, 400)
  t.match(answer.body, /<title>This number is not complete.* Pay First merchant<\/title>/)
})

testConservation(() => service)
