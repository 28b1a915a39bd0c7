import t from 'tap'
import { mailsTo } from '../support/identities/mails.ts'
import { createCustomer, createPlan, passDays, subscribe } from '../support/commerce/billing.ts'
import { answerPayment, waiting } from '../support/commerce/checkout.ts'
import { testConservation } from '../support/commerce/billing-laws.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { startService, type TestService } from '../support/service.ts'

const path = '/api/v1/billing/invoices'
const merchantPath = '/api/v1/merchant/invoices'

let service: TestService

t.before(async () => {
  service = await startService(t)
})

type Shown = Readonly<Record<string, unknown>>

const shown = async (id: unknown) => (await service.get(`${path}/${String(id)}`)).body
const becomes = (id: unknown, status: string) =>
  eventually(
    () => shown(id),
    (now) => now['status'] === status,
  )
const ofSubscription = async (id: string) =>
  (await service.get<{ data: Shown[] }>(`${path}?subscriptionId=${id}&limit=100`)).body.data
const open = async (body: object = {}) =>
  (await service.post(merchantPath, { amount: 5_000, currency: 'XOF', ...body })).body
const phone = ({ country, operator, msisdn } = waiting) => ({
  paymentMethod: { type: 'mobile_money', mobileMoney: { country, operator, msisdn } },
})
const confirm = (id: unknown, body: object = phone()) => service.post(`${path}/${String(id)}/confirm`, body)
const intentOf = ({ body }: { body: Shown }) => (body['payment_intent'] as Shown)['id']

async function available(): Promise<number> {
  const { body } = await service.get<{ available: { amount: number }[] }>('/api/v1/balance')
  return body.available[0]!.amount
}

t.test(
  'an invoice has its number at once, and numbers have no gaps, however many are issued together',
  async (t) => {
    const made = await Promise.all(Array.from({ length: 20 }, (_, index) => open({ amount: 1_000 + index })))
    const numbers = made.map(({ number }) => Number(String(number).slice('INV-'.length)))
    const sorted = numbers.toSorted((one, other) => one - other)
    await lawOver(t, sorted.entries(), ([index, number]) => t.equal(number, sorted[0]! + index))
    const draft = await open({ status: 'draft' })
    t.match(draft, { status: 'draft', number: null, due_date: null })
    const issued = await service.call('PATCH', `${merchantPath}/${String(draft['id'])}/status`, {
      status: 'open',
    })
    t.match(issued.body, { status: 'open', number: `INV-${String(sorted.at(-1)! + 1).padStart(6, '0')}` })
  },
)

t.test('a payer pays an invoice, and the merchant has the money', async (t) => {
  const before = await available()
  const { id, ...invoice } = await open({ customer_email: 'awa@example.com', description: 'Repair' })
  t.match(invoice, {
    object: 'invoice',
    status: 'open',
    currency: 'xof',
    amount_due: 5_000,
    amount_paid: 0,
    customer: /^cus_/,
    lines: [{ description: 'Repair', quantity: 1, amount: 5_000 }],
    hosted_invoice_url: /\/invoice\/[0-9a-f]{64}$/,
  })
  const paying = await confirm(id)
  t.match(paying, {
    status: 200,
    body: { object: 'invoice_payment', paid: false, payment_intent: { status: 'processing' } },
  })
  await answerPayment(service, intentOf(paying))
  t.match(await becomes(id, 'paid'), { amount_paid: 5_000, payment_intent: intentOf(paying) })
  await eventually(available, (now) => now === before + 4_900)
  t.match(await confirm(id), { status: 409, body: { code: 'IKW-BILLING-001' } })
  t.match(
    (await service.get(`/api/v1/merchant/payments/${String(intentOf(paying)).replace('pi_', 'pay_')}`)).body,
    {
      purpose: 'invoice',
      source: { object: 'invoice' },
    },
  )
})

t.test('ten who press at once are one payment', async (t) => {
  const { id } = await open()
  const answers = await Promise.all(Array.from({ length: 10 }, () => confirm(id)))
  await lawOver(t, answers, ({ status, body }) =>
    t.ok(status === 200 || body['code'] === 'IKW-RES-003', JSON.stringify(body)),
  )
  const { body } = await service.get<{ data: { type: string }[] }>(`${path}/${String(id)}/history`)
  t.equal(body.data.filter(({ type }) => type === 'InvoicePaymentStarted').length, 1)
})

t.test('after a failure it is paid by another intent, also from another country', async (t) => {
  const { id } = await open()
  const first = await service.post(`${path}/${String(id)}/pay`, { transactionCountry: 'SN' })
  t.match(first.body, { payment_intent: { status: 'requires_payment_method', amount: 5_000 }, paid: false })
  t.equal(
    intentOf(await service.post(`${path}/${String(id)}/pay`, {})),
    intentOf(first),
    'the same is answered',
  )
  const second = await confirm(id)
  t.not(intentOf(second), intentOf(first))
  t.match((await service.get(`/api/v1/payment-intents/${String(intentOf(first))}`)).body, {
    status: 'canceled',
  })
  await answerPayment(service, intentOf(second), 'failed')
  const told = await eventually(
    () => service.get<{ data: { type: string; data: Shown }[] }>('/api/v1/events?limit=100'),
    ({ body }) => body.data.some(({ type, data }) => type === 'invoice.payment_failed' && data['id'] === id),
  )
  t.ok(told)
  const third = await confirm(id)
  t.not(intentOf(third), intentOf(second))
  await answerPayment(service, intentOf(third))
  await becomes(id, 'paid')
})

t.test('what is wrong is named as it was sent, and leaves no try behind', async (t) => {
  const late = { customerId: await createCustomer(service), currency: 'XOF', amountDue: 5_000 }
  const past = await service.post('/api/v1/billing/invoices', { ...late, dueDate: '2019-01-01T00:00:00Z' })
  t.match(past.body, { param: '/dueDate', detail: /^dueDate must not be before today/ })
  const { id } = await open()
  const wrong = await confirm(id, phone({ ...waiting, msisdn: '+2250700' }))
  t.match(wrong, { status: 400, body: { param: '/paymentMethod/mobileMoney/msisdn' } })
  t.match(await confirm(id, {}), { status: 400, body: { param: '/paymentMethod' } })
  t.match(await confirm(id, { paymentMethod: { type: 'card' } }), {
    status: 400,
    body: { param: '/paymentMethod/card', detail: 'paymentMethod.card is required' },
  })
  t.match(await confirm(id, phone({ ...waiting, country: 'FR' })), {
    status: 400,
    body: { param: '/paymentMethod/mobileMoney/country' },
  })
  const small = await open()
  t.match(await service.post(`${path}/${String(small['id'])}/pay`, { transactionCountry: 'FR' }), {
    status: 400,
    body: { code: 'IKW-TRANSFER-001', param: '/transactionCountry' },
  })
  t.equal((await shown(small['id']))['payment_intent'], null)
})

t.test('nobody can pay what is void or was paid elsewhere', async (t) => {
  for (const status of ['void', 'paid']) {
    const { id } = await open()
    const waits = await service.post(`${path}/${String(id)}/pay`, {})
    const moved = await service.call('PATCH', `${merchantPath}/${String(id)}/status`, { status })
    t.match(moved, { status: 200, body: { status } })
    const shown = await service.get(`${path}/${String(id)}`)
    t.match(moved.body, { number: shown.body['number'] }, 'a number stays')
    t.match(moved.body['number'], /^INV-/)
    const intent = await service.get(`/api/v1/payment-intents/${String(intentOf(waits))}`)
    t.equal(intent.body['status'], 'canceled')
    t.equal((await confirm(id)).status, 409)
  }
  const { id } = await open()
  await confirm(id)
  const refused = await service.call('PATCH', `${merchantPath}/${String(id)}/status`, { status: 'void' })
  t.match(refused, { status: 409, body: { code: 'IKW-BILLING-001' } }, 'the payer is about to pay')
})

t.test('what fits no subscription is refused by its field', async (t) => {
  const id = await subscribe(service)
  const issue = (body: object) => service.post(path, { subscriptionId: id, ...body })
  t.match(await issue({}), { status: 201, body: { subscription: id, amount_due: 5_000, currency: 'xof' } })
  t.match(await issue({ customerId: await createCustomer(service) }), {
    status: 400,
    body: { code: 'IKW-BILLING-003', param: '/customerId' },
  })
  t.match(await issue({ currency: 'XAF' }), { status: 400, body: { param: '/currency' } })
  t.match(await issue({ dueDate: '2020-01-01T00:00:00.000Z' }), { status: 400, body: { param: '/dueDate' } })
  const never = { dueDate: '9999-12-31T00:00:00.000Z' }
  t.match(await issue(never), { status: 400, body: { param: '/dueDate' } }, 'no day follows it')
  t.match(await service.post(path, { amountDue: 5 }), { status: 400, body: { param: '/customerId' } })
  t.match(await service.post(merchantPath, { amount: 5, currency: 'XOF', due_date: '2026-02-30' }), {
    status: 400,
    body: { param: '/due_date' },
  })
})

// The clock goes on from here.

t.test('a plan that costs nothing is paid by itself', async (t) => {
  const id = await subscribe(service, { billingPlanId: await createPlan(service, { recurringAmount: 0 }) })
  const [invoice] = await eventually(
    () => ofSubscription(id),
    (found) => found[0]?.['status'] === 'paid',
  )
  t.match(invoice, { amount_due: 0, number: /^INV-/ })
})

t.test('a year of a monthly plan whose third payment fails', async (t) => {
  const before = await available()
  const id = await subscribe(service)
  const subscription = async () => (await service.get(`/api/v1/billing/subscriptions/${id}`)).body
  const periods: Shown[] = []
  for (let month = 1; month <= 12; month++) {
    const [invoice] = await eventually(
      () => ofSubscription(id),
      (found) => found.length === month && found[0]!['number'] !== null,
    )
    periods.push(invoice!)
    const paying = await confirm(invoice!['id'])
    const result = month === 3 ? 'failed' : 'succeeded'
    await answerPayment(service, intentOf(paying), result)
    if (month === 3) await becomes(invoice!['id'], 'open')
    else await becomes(invoice!['id'], 'paid')
    if (month === 4) {
      // The third one is overdue by now.
      await eventually(subscription, ({ status }) => status === 'past_due')
      t.match(await shown(periods[2]!['id']), { overdue: true, status: 'open' })
      await answerPayment(service, intentOf(await confirm(periods[2]!['id'])))
      await eventually(subscription, ({ status }) => status === 'active')
    }
    if (month < 12) await passDays(service, 31)
  }
  await lawOver(t, periods.entries(), ([index, invoice]) => {
    t.equal(invoice['amount_due'], 5_000)
    if (index > 0) t.equal(invoice['period_start'], periods[index - 1]!['period_end'], `period ${index + 1}`)
  })
  await eventually(available, (now) => now === before + 12 * 4_900)
  t.match(await subscription(), { status: 'active' })
})

t.test('whoever is late is reminded three times by mail, with a way to pay, until it is paid', async (t) => {
  const [awa, ben] = ['awa.late@example.com', 'ben.late@example.com']
  const { id } = await open({ customer_email: awa })
  const paid = await open({ customer_email: ben })
  const reminders = async (of: unknown) => {
    const { body } = await service.get<{ data: { type: string }[] }>(`${path}/${String(of)}/history`)
    return body.data.filter(({ type }) => type === 'InvoiceReminded').length
  }
  await passDays(service, 30 + 4)
  await eventually(
    () => reminders(paid['id']),
    (count) => count === 1,
  )
  await service.call('PATCH', `${merchantPath}/${String(paid['id'])}/status`, { status: 'paid' })
  for (const [days, times] of [
    [4, 2],
    [7, 3],
  ] as const) {
    await eventually(
      () => reminders(id),
      (count) => count === times - 1,
    )
    await passDays(service, days)
  }
  await eventually(
    () => reminders(id),
    (count) => count === 3,
  )
  const toAwa = mailsTo(service.service, awa)
  t.equal(toAwa.length, 3)
  t.equal(mailsTo(service.service, ben).length, 1)
  const { hosted_invoice_url: url, number } = await shown(id)
  await lawOver(t, toAwa, (mail) => {
    t.match(mail, String(url))
    t.match(mail, `facture ${String(number)}`, 'the merchant is in Senegal')
    t.match(mail, /5[\s\u202f\u00a0]000[\s\u202f\u00a0]F[\s\u202f\u00a0]CFA/)
  })
})

t.test(
  'who pays nothing is unpaid after three weeks, is billed no more, and goes on once it is paid',
  async (t) => {
    const id = await subscribe(service)
    const subscription = async () => (await service.get(`/api/v1/billing/subscriptions/${id}`)).body
    await passDays(service, 60)
    const unpaid = await eventually(subscription, ({ status }) => status === 'unpaid')
    const owed = await ofSubscription(id)
    await passDays(service, 60)
    t.match(await subscription(), unpaid, 'nothing is renewed')
    t.equal((await ofSubscription(id)).length, owed.length)
    await lawOver(t, owed, async ({ id: invoice }) => {
      await service.call('PATCH', `${merchantPath}/${String(invoice)}/status`, { status: 'paid' })
    })
    await eventually(subscription, ({ status }) => status === 'active')
    const [newest] = await eventually(
      () => ofSubscription(id),
      (found) => found.length === owed.length + 1,
    )
    const { body: clock } = await service.get('/api/test/clock')
    const now = Date.parse(String(clock['now'])) / 1_000
    t.ok(Number(newest!['period_start']) <= now && Number(newest!['period_end']) > now)
  },
)

testConservation(() => service)
