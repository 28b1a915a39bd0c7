import t from 'tap'
import { identity, publicId } from '../../packages/contract/identity.ts'
import type { RailState } from '../../packages/kernel/ports/rails.ts'
import { testConservation } from '../support/commerce/billing-laws.ts'
import { byPhone, openSession } from '../support/commerce/checkout.ts'
import { eventually } from '../support/eventually.ts'
import { ScriptedRail } from '../support/payments/scripted-rail.ts'
import { startService, type TestService } from '../support/service.ts'

const provider = new ScriptedRail()
let service: TestService

t.before(async () => {
  service = await startService(t, {}, { rails: [{ environments: ['sandbox'], rail: provider }] })
})

const succeeded: RailState = { state: 'succeeded' }
const failed: RailState = { state: 'failed', code: 'payment_timeout', message: 'no' }
const returned: RailState = { state: 'returned' }

interface Link {
  readonly id: string
  readonly slug: string
}

async function linkForOne(expiresAt: string | null = null): Promise<Link> {
  const body = { amount: 5_000, currency: 'XOF', country: 'CI', isSingleUse: true, expiresAt }
  return (await service.post<Link & Record<string, unknown>>('/api/v1/payment_links', body)).body
}

async function follow({ slug }: Link): Promise<string> {
  const { headers, status, body } = await service.get(`/pay/${slug}`, { key: '' })
  if (status !== 302) throw new Error(JSON.stringify(body))
  return new URL(headers.get('location')!).pathname.split('/').at(-1)!
}

/** Begins to pay; the provider's reference. */
async function pay(session: string): Promise<string> {
  const { status, body } = await service.post(`/api/checkout/${session}/pay`, byPhone(), { key: '' })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return identity(String(body['operation_id']), 'op')!
}

const sessionOf = async (id: string) => (await service.get(`/api/v1/checkout/sessions/${id}`)).body
const linkOf = async ({ id }: Link) => (await service.get(`/api/v1/payment_links/${id}`)).body
const available = async () =>
  (await service.get<{ available: { amount: number }[] }>('/api/v1/balance')).body.available[0]!.amount

const paymentOf = async (session: string) =>
  publicId('pay', identity(String((await sessionOf(session))['payment_intent']), 'pi')!)

/** Pays the link's session; its operation, once the money is in the book. */
async function paidIn(session: string, link: Link): Promise<string> {
  const operation = await pay(session)
  await provider.say(operation, succeeded)
  await eventually(
    () => linkOf(link),
    ({ status }) => status === 'completed',
  )
  const source = await paymentOf(session)
  await eventually(
    () => service.get<{ data: { net: number }[] }>(`/api/v1/balance-transactions?source=${source}`),
    ({ body }) => body.data.some(({ net }) => net === 4_900),
  )
  return operation
}

/** Its session and operation, once the money is in the book. */
async function paid(link: Link) {
  const session = await follow(link)
  return { session, operation: await paidIn(session, link) }
}

t.test('what the operator takes back is told, and a link for one payment is open again', async (t) => {
  const before = await available()
  const link = await linkForOne()
  const { session, operation } = await paid(link)
  await provider.say(operation, returned)
  t.match(
    await eventually(
      () => linkOf(link),
      ({ uses }) => uses === 0,
      20_000,
    ),
    { status: 'active' },
  )
  t.match(await sessionOf(session), { status: 'completed', payment_status: 'unpaid' })
  const told = await eventually(
    () => service.get<{ data: { type: string; data: { id: string } }[] }>('/api/v1/events?limit=100'),
    ({ body }) => body.data.some(({ type }) => type === 'checkout_session.payment_failed'),
  )
  const { data } = told.body.data.find(({ type }) => type === 'checkout_session.payment_failed')!
  t.match(data, { id: session, status: 'completed', payment_status: 'unpaid' })
  t.equal(await available(), before)
  const page = await service.get<string>(`/checkout/session/${session}`, {
    key: '',
    headers: { accept: 'text/html', 'accept-language': 'en' },
  })
  t.match(page.body, /The payment was taken back/)
  const other = await follow(link)
  t.not(other, session)
  await paidIn(other, link)
  t.match(await linkOf(link), { status: 'completed', uses: 1 })
})

t.test('a payer whose payment was taken back finds the way back to the shop', async (t) => {
  const shop = { cancelUrl: 'https://shop.example/cart', successUrl: 'https://shop.example/thanks' }
  for (const [one, url] of Object.entries(shop)) {
    const { id } = await openSession(service, { [one]: url })
    const operation = await pay(id)
    await provider.say(operation, succeeded)
    await eventually(
      () => sessionOf(id),
      ({ status }) => status === 'completed',
    )
    await provider.say(operation, returned)
    const page = () =>
      service.get<string>(`/checkout/session/${id}`, {
        key: '',
        headers: { accept: 'text/html', 'accept-language': 'en' },
      })
    const { body } = await eventually(page, (shown) => shown.body.includes('taken back'))
    t.match(body, `href="${url}`)
  }
})

t.test(
  'a link that its merchant has closed takes nobody when the operator takes the money back',
  async (t) => {
    const close = ({ id }: Link) => service.post(`/api/v1/payment_links/${id}/deactivate`, {})
    const [whilePaying, oncePaid] = [await linkForOne(), await linkForOne()]
    const session = await follow(whilePaying)
    t.match((await close(whilePaying)).body, { status: 'inactive' })
    const operation = await paidIn(session, whilePaying)
    const other = await paid(oncePaid)
    t.match((await close(oncePaid)).body, { status: 'completed' }, 'what was paid stays paid')
    for (const each of [operation, other.operation]) await provider.say(each, returned)
    for (const link of [whilePaying, oncePaid]) {
      const { status } = await eventually(
        () => linkOf(link),
        ({ uses }) => uses === 0,
        20_000,
      )
      t.equal(status, 'inactive')
      const refused = await service.get(`/pay/${link.slug}`, { key: '' })
      t.match(refused, { status: 410, body: { detail: 'The payment link was deactivated' } })
    }
  },
)

t.test('what an operator says too late is given back, and pays neither session nor link', async (t) => {
  const link = await linkForOne()
  const awa = await follow(link)
  const late = await pay(awa)
  await provider.say(late, failed)
  const ben = await follow(link)
  const paying = await pay(ben)
  await provider.say(late, succeeded)
  await provider.say(paying, succeeded)
  await eventually(
    () => linkOf(link),
    ({ status }) => status === 'completed',
  )
  t.match(await linkOf(link), { uses: 1 })
  t.match(await sessionOf(ben), { status: 'completed', payment_status: 'paid' })
  t.match(await sessionOf(awa), { status: 'open', payment_status: 'unpaid' })
  const page = await service.get<string>(`/checkout/session/${awa}`, {
    key: '',
    headers: { accept: 'text/html', 'accept-language': 'en' },
  })
  t.match(page.body, /came too late/)
  t.notMatch(page.body, /Nothing was paid/)
  const { kind } = await provider.submitted(({ kind }) => kind === 'refund')
  t.equal(kind, 'refund', 'the money goes back')
})

t.test('a link that is open again expires at its time', async (t) => {
  const link = await linkForOne(new Date(Date.now() + 3_600_000).toISOString())
  const { operation } = await paid(link)
  await provider.say(operation, returned)
  await eventually(
    () => linkOf(link),
    ({ status }) => status === 'active',
    20_000,
  )
  await service.post('/api/test/clock', { advance_seconds: 3_600 })
  await eventually(
    () => linkOf(link),
    ({ status }) => status === 'expired',
  )
  t.equal((await service.get(`/pay/${link.slug}`, { key: '' })).status, 410)
})

testConservation(() => service)
