import { randomUUID } from 'node:crypto'
import { createCustomer, createPlan, subscribe } from '../commerce/billing.ts'
import type { Visitor } from './browser.ts'
import { eventually } from '../eventually.ts'
import { invoiceFor, paymentOf } from '../commerce/portal.ts'
import type { TestService } from '../service.ts'
import { openPortal, type Portal } from '../subscriber.ts'
import { topUp } from '../commerce/wallets.ts'

export interface PortalCustomer extends Portal {
  readonly customer: string
  readonly invoice: string
  readonly subscription: string
}

/** A customer with a little of everything. */
export async function portalCustomer(
  service: TestService,
  permissions?: readonly string[],
): Promise<PortalCustomer> {
  const customer = await createCustomer(service, `awa.${randomUUID().slice(0, 8)}@example.com`)
  await paymentOf(service, customer)
  const merchants = {
    customer,
    amount: 12_500,
    currency: 'XOF',
    description: 'Réparation d’une lampe solaire',
  }
  const { body } = await service.post('/api/v1/merchant/invoices', merchants)
  await invoiceFor(service, customer)
  await topUp(service, { customer, amount: 3_000 })
  const plan = await createPlan(service, { name: 'Kit solaire <grand>' })
  const subscription = await subscribe(service, { customerId: customer, billingPlanId: plan })
  const asked = {
    customerId: customer,
    returnUrl: 'https://shop.example/account',
    ...(permissions && { permissions }),
  }
  const portal = await openPortal(service, asked)
  await eventually(
    () => service.get<{ due: unknown[]; payments: unknown[] }>(new URL(portal.url).pathname, { key: '' }),
    ({ body: { due, payments } }) => permissions !== undefined || (due.length === 3 && payments.length > 0),
  )
  return { ...portal, customer, invoice: String(body['id']), subscription }
}

export interface Way extends Visitor {
  readonly name: string
  readonly title: RegExp
  readonly pay: RegExp
  readonly paid: string
  readonly settled: string
  readonly cancel: string
  readonly cancelNow: string
  readonly ends: RegExp
  readonly wallet: string
  readonly topup: string
  readonly cardLater: string
  readonly goOn: string
  readonly noAmount: RegExp
  readonly put: RegExp
  readonly prompt: string
  readonly receipt: string
}

export const french = {
  language: 'fr',
  title: /^Votre compte chez /,
  pay: /^Payer 12\s500\sF\sCFA/,
  paid: 'Payé, merci',
  wallet: 'Portefeuille',
  topup: 'Ajouter de l’argent…',
  cardLater: 'L’argent ajouté par carte est utilisable après deux jours.',
  goOn: 'Continuer',
  noAmount: /Rien n’a été ajouté/,
  put: /^Payer 4\s000\sF\sCFA$/,
  prompt: 'Confirmez sur votre téléphone',
  receipt: 'Reçu',
  settled: 'Factures payées',
  cancel: 'Résilier…',
  cancelNow: 'Résilier l’abonnement',
  ends: /Se termine le \d+ .*, sans renouvellement/,
}
export const english = {
  language: 'en',
  title: /^Your account with /,
  pay: /^Pay 12,500\sF\sCFA/,
  paid: 'Paid, thank you',
  wallet: 'Wallet',
  topup: 'Put money in…',
  cardLater: 'What you put in by card can be spent after two days.',
  goOn: 'Continue',
  noAmount: /No money was put in/,
  put: /^Pay 4,000\sF\sCFA$/,
  prompt: 'Confirm on your phone',
  receipt: 'Receipt',
  settled: 'Paid invoices',
  cancel: 'Cancel…',
  cancelNow: 'Cancel the subscription',
  ends: /Ends on \d+ .*, and is not renewed/,
}
