import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { openSession } from '../support/commerce/checkout.ts'
import { nodeArguments } from '../support/processes/child-process.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import type { MerchantClient } from '../support/service.ts'
import { serviceProcess } from '../support/processes/service-process.ts'
import { customersToken } from '../support/subscriber.ts'

interface Line {
  readonly msg: string
  readonly resource?: string
  readonly leader?: string
}

async function linesOf(environment: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, [...nodeArguments('test/support/processes/log-process')], {
    env: { PATH, LOG_LEVEL: 'info', ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  return (await text(child.stderr)).trim().split('\n')
}

t.test('a warning is written at once, and all that was logged before it', async (t) => {
  const lines = (await linesOf({})).map((line) => JSON.parse(line) as Line)
  t.match(lines, [
    { msg: 'something small', payout: 'po_1' },
    { msg: 'something urgent', destination: { msisdn: '[Redacted]' } },
  ])
  t.equal(lines.length, 2)
})

t.test('people at a terminal get lines that they can read', async (t) => {
  const lines = await linesOf({ LOG_FORMAT: 'pretty' })
  t.match(lines[0], /INFO.*something small/)
  t.ok(lines.some((line) => /WARN.*something urgent/.test(line)))
})

t.test('who leads and how payouts end is told within a second, by the ids that merchants know', async (t) => {
  const { url: POSTGRES_URL } = await testDatabase(t)
  const settings = { POSTGRES_URL, LOG_LEVEL: 'info' }
  const { service, client } = await serviceProcess(t, temporaryDirectory(t), settings)
  const destination = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' }
  const { body } = await client.post('/api/v1/payouts', { amount: 5_000, currency: 'XOF', destination })
  await client.post('/api/test/payouts/callback', { payout_id: body['id'], status: 'paid' })
  const said = async () =>
    service.errors
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as Line)
  const lines = await eventually(
    said,
    (all) =>
      ['payout.paid', 'leads from now on'].every((wanted) => all.some(({ msg }) => msg === wanted)) &&
      all.some(({ leader }) => leader === 'projector'),
  )
  t.match(
    lines.find(({ msg }) => msg === 'payout.paid'),
    { resource: body['id'], event: /^evt_/ },
  )
  const leaders = lines.filter(({ msg }) => msg === 'leads from now on').map(({ leader }) => leader)
  t.ok(
    ['projector', 'processes', 'relay'].every((name) => leaders.includes(name)),
    leaders.join(' '),
  )
  const secret = await strangersPaths(client)
  await somebodyPays(client)
  await givesUpWaiting(client)
  const { errors } = await service.end('SIGTERM')
  t.match(errors, '"path":"/checkout/session/{sessionId}/nothing"')
  t.match(errors, '"path":"/pay/{slug}"')
  t.match(errors, '"method":"POST","path":"/api/v1/payouts","status":null', 'nobody waited for this answer')
  await lawOver(t, secret, (one) =>
    t.notMatch(errors, new RegExp(`"path":"[^"]*${one}`), 'what opens a page is not logged'),
  )
  t.match(errors, /"leads no more"/, 'nothing is lost at the end')
  await lawOver(t, ['221770000000', ...Object.values(somebody), '77.{1,9}000.{1,9}87.{1,9}65'], (value) =>
    t.notMatch(errors, value, 'what is personal is not logged, so nothing is left to be erased'),
  )
})

const somebody = {
  phone: '221770008765',
  email: 'awa.logged@example.com',
  nameThere: 'awa.logged',
  about: 'red shawl for Awa',
  note: 'ring twice',
}
const spelt = [
  '%2B221%2077%20000%2087%2065',
  '221-77-000-87-65',
  '(221)%2077.000.87.65',
  '%2B221%C2%A077%E2%80%AF000%E2%80%9187%E2%80%9165',
  'tel:%2B221770008765',
]

/** Also as a merchant would who makes a mistake. */
async function somebodyPays(client: MerchantClient): Promise<void> {
  const { phone, email, about, note } = somebody
  const who = { customer_email: email, customer_phone: `+${phone}`, description: about, metadata: { note } }
  const wish = { amount: 5_000, currency: 'XOF', transaction_country: 'SN', ...who }
  const { body } = await client.post('/api/v1/payment-intents', wish)
  const mobile_money = { country: 'SN', operator: 'orange_money', msisdn: `+${phone}` }
  const path = `/api/v1/payment-intents/${String(body['id'])}/confirm`
  const payment_method = { type: 'mobile_money', mobile_money }
  const { status } = await client.post(path, { payment_method })
  if (status >= 300) throw new Error(`the payment is answered ${status}`)
  await client.post(path, { payment_method, note: about })
  await client.post('/api/v1/payment-intents', { ...wish, amount: email })
  await client.get(`/api/v1/merchant/customers?search=${encodeURIComponent(email)}`)
  for (const mistaken of ['%3Fsearch=', '%3Fname=Awa%26search=%2B', '%23phone:'])
    await client.get(`/api/v1/merchant/customers${mistaken}${phone}`)
  for (const one of [email, phone, `+${phone}`])
    for (const id of [one, encodeURIComponent(one), encodeURIComponent(encodeURIComponent(one))])
      await client.get(`/api/v1/merchant/customers/${id}`)
  for (const number of spelt) await client.get(`/api/v1/merchant/customers/${number}`)
}

/** Asks in every way for what only a payer knows; what that is. */
async function strangersPaths(client: MerchantClient): Promise<readonly string[]> {
  const { id } = await openSession(client)
  const { body } = await client.post<{ slug: string }>('/api/v1/payment_links', { amount: 5_000 })
  const token = await customersToken(client)
  const billed = { customer_email: 'billed@example.com', amount: 5_000, currency: 'XOF' }
  const invoice = await client.post('/api/v1/merchant/invoices', billed)
  const page = String(invoice.body['hosted_invoice_url']).split('/invoice/')[1]!
  const bare = id.slice('cs_'.length)
  const paths = [
    `/checkout/session/${id}`,
    `/checkout/session/${id}/nothing`,
    `/checkout/session/${bare}`,
    `/checkout/session/${id}/receipt.pdf`,
    `/api/checkout/${id}/status`,
    `/pay/${body.slug}`,
    `/PAY/${body.slug}`,
    `/pay/${body.slug}/qr.svg`,
    `/api/v1/checkout/sessions/${id}`,
    `/api/v1/checkout/sessions/${bare}`,
    `/api/v1/checkout/sessions/${bare}/history`,
    `/api/v1/payment_links/${body.slug}`,
    `/checkout/session/x/portal/${token}`,
    `/checkout/session/..%2Fsession%2F${bare}`,
    `/checkout/session/x%2F..%2F..%5Csession%2F.%2F${bare}`,
    `/pay/x/api/v1/events/${id}`,
    ...[
      '/portal/',
      '//portal/',
      '/portal%2F',
      '/x/Portal/',
      '/%70ortal/',
      '/portal%252F',
      '/%ff%2Fportal/',
    ].map((before) => before + token),
    `/checkout/session/%63s_${bare}`,
    `/api/v1/events/%63s_${bare}`,
    `/api/v1/auth/api-keys/${stray.key}`,
    `/api/v1/auth/api-keys/ik%5flive_${stray.key.slice('ik_live_'.length)}`,
    `/api/v1/webhook-endpoints/${stray.endpoint}`,
    `/api/v1/invitations/${stray.token}`,
    ...['/invoice/', '/invoices/', '/api/v1/merchant/invoices/', '/invoices/inv_', '/invoice%252F'].map(
      (before) => before + page,
    ),
    `/portal/${token}/subscriptions/nothing/cancel`,
    `/portal/${token}/topups/wt_${'0'.repeat(32)}/receipt.pdf`,
    `/api/v1/customer-portal/sessions/${token}`,
  ]
  for (const path of paths)
    for (const method of ['GET', 'DELETE', 'OPTIONS']) await client.call(method, path, undefined, { key: '' })
  return [bare, body.slug, token, page, ...Object.values(stray).map((one) => one.slice(-20))]
}

/** What somebody takes for an id. */
const stray = {
  key: `ik_live_${'stray-key'.repeat(5)}`,
  endpoint: `whsec_${'strayEndpoint'.repeat(4)}=`,
  token: `eyJhbGciOiJFZERTQSJ9.eyJsaW5rIjoic3RyYXkifQ.${'strayToken'.repeat(6)}`,
}

/** Before the whole of the request is there. */
async function givesUpWaiting({ url, sandboxKey }: MerchantClient): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  const head = [
    'POST /api/v1/payouts HTTP/1.1',
    'Host: here',
    `Authorization: Bearer ${sandboxKey}`,
    'Ikw-Environment: sandbox',
    'Content-Type: application/json',
    'Content-Length: 100',
    'Expect: 100-continue',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n{`)
  // It is being worked on.
  await once(socket, 'data')
  socket.destroy()
}
