import { createPlan, made, subscribe } from './billing.ts'
import { invoiceFor, paymentOf } from './portal.ts'
import { openPortal, subscriber, subscribersToken } from '../subscriber.ts'
import { askForTopup, topUp } from './wallets.ts'
import type { TestService } from '../service.ts'

type Body = Readonly<Record<string, unknown>>
type Making = (service: TestService) => Promise<string>

async function metered(service: TestService): Promise<string> {
  const billingPlanId = await createPlan(service, { recurringAmount: 0, usageBasedEnabled: true })
  return subscribe(service, { billingPlanId, customerId: await subscriber(service) })
}

/** Bodies of billing that name resources which must exist. */
export const namingOfBilling: Readonly<Record<string, (service: TestService) => Promise<Body>>> = {
  'POST /api/v1/billing/subscriptions': async (service) => ({
    billingPlanId: await createPlan(service),
    customerId: await subscriber(service),
  }),
  'POST /api/v1/merchant/subscriptions': async (service) => ({
    customer: await subscriber(service),
    items: [{ price: await createPlan(service), quantity: 2 }],
  }),
  'POST /api/v1/billing/usage/records': async (service) => ({
    subscriptionId: await metered(service),
    meterKey: 'sms',
    quantity: 12,
  }),
  'POST /api/v1/billing/invoices': async (service) => ({
    customerId: await subscriber(service),
    currency: 'XOF',
    amountDue: 7500,
  }),
  // With something that its portal shows.
  'POST /api/v1/customer-portal/sessions': async (service) => {
    const customerId = await subscriber(service)
    await paymentOf(service, customerId)
    return { customerId }
  },
}

export const makersOfBilling: Readonly<Record<string, Making>> = {
  subscription: async (service) => subscribe(service, { customerId: await subscriber(service) }),
  usage_record: async (service) => {
    const body = { subscriptionId: await metered(service), meterKey: 'sms' }
    return made(service, '/api/v1/billing/usage/records', body)
  },
  portal_session: async (service) =>
    (await openPortal(service, { customerId: await subscriber(service) })).id,
  invoice: (service) => made(service, '/api/v1/merchant/invoices', { amount: 7500, currency: 'XOF' }),
}

/** The address of an invoice that can be paid. */
async function token(service: TestService): Promise<string> {
  const { body } = await service.post('/api/v1/merchant/invoices', { amount: 5000, currency: 'XOF' })
  return new URL(String(body['hosted_invoice_url'])).pathname.split('/').at(-1)!
}

const subscribersInvoice: Making = async (service) => invoiceFor(service, await subscriber(service))

/** What the customer's wallet covers. */
async function coveredInvoice(service: TestService): Promise<string> {
  const customer = await subscriber(service)
  await topUp(service, { customer, amount: 7500 })
  return invoiceFor(service, customer)
}

const portalToken: Making = async (service) => subscribersToken(service)

async function subscribersTopup(service: TestService): Promise<string> {
  const { id } = await askForTopup(service, { customer: await subscriber(service), amount: 500 })
  return `wt_${id.replaceAll('-', '')}`
}

export const specialOfBilling: Readonly<Record<string, Making>> = {
  'GET /api/v1/customer-portal/invoices/{id}': subscribersInvoice,
  'POST /api/v1/customer-portal/invoices/{id}/pay': subscribersInvoice,
  'POST /api/v1/merchant/billing/wallet/invoices/{invoiceId}/apply': coveredInvoice,
  'GET /portal/{token}': portalToken,
  'POST /portal/{token}/topups': portalToken,
  'GET /api/v1/customer-portal/wallet/topups/{id}': subscribersTopup,
  'GET /invoice/{token}': token,
  'GET /invoice/{token}/status': token,
  'POST /invoice/{token}/pay': token,
}

type Asked = { readonly path: string; readonly body?: Body }

/** The page of a top-up, in the portal of whoever asks for it. */
async function topupPage(service: TestService): Promise<string> {
  return `/portal/${await portalToken(service)}/topups/${await subscribersTopup(service)}`
}

/** Operations whose path names several things that are one customer's. */
export const pathsOfBilling: Readonly<Record<string, (service: TestService) => Promise<Asked>>> = {
  'GET /portal/{token}/topups/{id}': async (service) => ({ path: await topupPage(service) }),
  'GET /portal/{token}/topups/{id}/status': async (service) => ({
    path: `${await topupPage(service)}/status`,
  }),
  'POST /portal/{token}/topups/{id}/pay': async (service) => ({
    path: `${await topupPage(service)}/pay`,
    body: { PaymentMethod: 'mobile_money', Operator: 'orange_money', PhoneNumber: '+221770000042' },
  }),
  'POST /portal/{token}/invoices/{id}/wallet': async (service) => ({
    path: `/portal/${await portalToken(service)}/invoices/${await coveredInvoice(service)}/wallet`,
    body: { AtMost: '3000' },
  }),
  'POST /portal/{token}/subscriptions/{id}/cancel': async (service) => {
    const id = await subscribe(service, { customerId: await subscriber(service) })
    return { path: `/portal/${await portalToken(service)}/subscriptions/${id}/cancel` }
  },
}
