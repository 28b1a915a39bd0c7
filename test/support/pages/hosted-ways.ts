import type { Locator, Page } from 'playwright-core'
import { createCustomer, made } from '../commerce/billing.ts'
import { showsByNow, type Visitor } from './browser.ts'
import { answerPayment, openSession } from '../commerce/checkout.ts'
import { eventually } from '../eventually.ts'
import { portalCustomer } from './portal-customer.ts'
import { hostedTexts, type HostedTexts } from './hosted-texts.ts'
import type { TestService } from '../service.ts'
import { openPortal } from '../subscriber.ts'

/** A payer who goes a page's whole way. */
export interface Walk {
  readonly service: TestService
  readonly page: Page
  readonly visitor: Required<Pick<Visitor, 'language' | 'javaScript'>> & Visitor
  readonly texts: HostedTexts
  /** Judges what is shown. */
  readonly look: (name: string) => Promise<void>
}

/** Where it begins, and how a payer goes on from there. */
export interface HostedWay {
  readonly start: (service: TestService) => Promise<string>
  readonly walk: (walk: Walk) => Promise<void>
}

const number = '77 000 00 42'

export const hostedWays: Readonly<Record<string, HostedWay>> = {
  checkout: {
    start: async (service) => (await openSession(service, { country: 'SN' })).url,
    walk: payThenSee,
  },

  link: {
    async start(service) {
      const order = { currency: 'XOF', country: 'SN', feeMode: 'customer_pays', description: 'Don' }
      const { body } = await service.post('/api/v1/payment_links', order)
      return String(body['url'])
    },
    walk: payThenSee,
  },

  invoice: {
    async start(service) {
      const order = { customer: await createCustomer(service), amount: 12_500, currency: 'XOF' }
      const id = await made(service, '/api/v1/merchant/invoices', { ...order, description: 'Réparation' })
      return String((await service.get(`/api/v1/billing/invoices/${id}`)).body['hosted_invoice_url'])
    },
    walk: payThenSee,
  },

  portal: {
    start: async (service) => (await portalCustomer(service)).url,
    async walk({ page, texts, look }) {
      await page.getByText(texts.cancel, { exact: true }).click()
      await look('cancel')
      await page.getByRole('button', { name: texts.cancelNow }).click()
      await page.getByText(texts.ends).waitFor()
      await look('canceled')
      await page.getByRole('link', { name: texts.payOne }).first().click()
      await page.locator('#number').waitFor()
      await look('to-an-invoice')
    },
  },

  topup: {
    async start(service) {
      const customerId = await createCustomer(service)
      const { token } = await openPortal(service, { customerId, permissions: ['wallet'] })
      const order = { amount: 4_000, currency: 'XOF', country: 'SN' }
      const { body } = await service.post('/api/v1/customer-portal/wallet/topups', order, { key: token })
      return String(body['checkout_url'])
    },
    walk: payThenSee,
  },

  status: {
    start: async (service) => `${service.url}/operations/status/${await confirmedPayment(service)}`,
    async walk(walk) {
      const { service, page, texts, look } = walk
      await answerPayment(service, await intentOf(service, new URL(page.url()).pathname.split('/').at(-1)!))
      await goesOn(walk, page.getByRole('heading', { name: texts.done }))
      await look('done')
    },
  },

  payer: {
    start: async (service) => `${service.url}/sandbox/pay/${await confirmedPayment(service)}`,
    async walk({ page, texts, look }) {
      const here = page.url()
      await page.getByRole('button', { name: texts.approve }).click()
      await page.getByRole('heading', { name: texts.done }).waitFor()
      await look('approved')
      await page.goto(here)
      await page.getByText(texts.decided).waitFor()
      await look('decided')
    },
  },
}

/** From a form with a telephone to the payment's success. */
async function payThenSee(walk: Walk): Promise<void> {
  const { service, page, texts, look } = walk
  await fillIn(walk)
  await look('filled-in')
  await page.getByRole('button', { name: texts.pay }).first().click()
  await page.getByRole('heading', { name: texts.prompt }).waitFor()
  await look('prompt')
  await answerPayment(service, await intentOf(service, await askedOperation(walk)))
  await goesOn(walk, page.getByRole('heading', { name: texts.paid }))
  await look('paid')
}

/** From a form with a telephone to what is to be done on the phone. */
export async function pressPay(walk: Walk): Promise<void> {
  const { page, texts } = walk
  await fillIn(walk)
  await page.getByRole('button', { name: texts.pay }).first().click()
  await page.getByRole('heading', { name: texts.prompt }).waitFor()
}

/** The payer of an open amount chooses it. */
async function fillIn({ page }: Walk): Promise<void> {
  await page.getByLabel('Orange Money').check()
  await page.locator('#number').fill(number)
  const amount = page.locator('#amount')
  if ((await amount.count()) > 0) await amount.fill('2 500')
}

/** That the prompt shown is about. */
export async function askedOperation({ page, texts }: Walk): Promise<string> {
  const played = await page.getByRole('link', { name: texts.play }).getAttribute('href')
  return /op_[0-9a-f]{32}/.exec(played!)![0]
}

/** By itself, or where no script runs by looking again. */
export async function goesOn({ page, visitor }: Walk, sign: Locator): Promise<void> {
  if (visitor.javaScript) return sign.waitFor()
  await eventually(
    () => showsByNow(page, sign),
    (isShown) => isShown,
  )
}

/** Its payer has been asked; answers the operation. */
async function confirmedPayment(service: TestService): Promise<string> {
  const order = { amount: 5_000, currency: 'XOF', transaction_country: 'SN' }
  const intent = await made(service, '/api/v1/payment-intents', order)
  const mobile_money = { country: 'SN', operator: 'orange_money', msisdn: '+221770000042' }
  const method = { payment_method: { type: 'mobile_money', mobile_money } }
  const { body } = await service.post(`/api/v1/payment-intents/${intent}/confirm`, method)
  return String(body['operation_id'])
}

export async function intentOf(service: TestService, operation: string): Promise<string> {
  const { body } = await service.get<{ resource: { id: string } }>(`/operations/status/${operation}`, {
    key: '',
  })
  return body.resource.id
}

/** Phone and desktop, with scripts and without, in both languages. */
export const hostedVisitors = (['phone', 'desktop'] as const).flatMap((device) =>
  [true, false].flatMap((javaScript) =>
    (['fr', 'en'] as const).map((language) => ({
      name: `${device}-${language}${javaScript ? '' : '-no-script'}`,
      visitor: { device, javaScript, language },
      texts: hostedTexts[language],
    })),
  ),
)
