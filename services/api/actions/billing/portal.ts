import { customerOf } from '../../../../packages/contract/access/callers.ts'
import { publicId } from '../../../../packages/contract/identity.ts'
import { refuseField } from '../../../../packages/contract/refusals.ts'
import type { Dependencies, Request } from '../../../../packages/contract/routes.ts'
import {
  choice,
  Country,
  maybe,
  nullable,
  record,
  Type,
  type Static,
} from '../../../../packages/contract/vocabulary.ts'
import { portalPermissions } from '../../../../packages/contract/access/callers.ts'
import { InvoiceResource, viewInvoice } from '../../../../packages/domain/invoices/resource.ts'
import { isPayable } from '../../../../packages/domain/invoices/state.ts'
import type { Invoice } from '../../../../packages/domain/invoices/state.ts'
import { PaymentResource, viewPayment } from '../../../../packages/domain/payment-intents/payment.ts'
import { ConfirmationRequest } from '../../../../packages/domain/payment-intents/resource.ts'
import type { PaymentIntent } from '../../../../packages/domain/payment-intents/state.ts'
import type {
  PortalSession,
  PortalSessionCommands,
} from '../../../../packages/domain/portal/portal-session.ts'
import {
  NewPortalSession,
  viewPortalSession,
  type PortalRequest,
  type PortalSides,
} from '../../../../packages/domain/portal/resource.ts'
import { portalToken } from '../../../../packages/domain/portal/token.ts'
import { SubscriptionResource, viewSubscription } from '../../../../packages/domain/subscriptions/resource.ts'
import type { Subscription } from '../../../../packages/domain/subscriptions/state.ts'
import type { MerchantOwner } from '../../../../packages/kernel/owner.ts'
import { invoices } from '../../../../projections/invoices.ts'
import { requirePermission } from '../../http/credentials/authenticate.ts'
import { hashOf } from '../../http/credentials/portal-tokens.ts'
import { customerNow, namedCustomer } from './customers.ts'
import { requireAmong } from '../../kinds/parents.ts'
import { refuseUnknown } from '../../kinds/prefixes.ts'
import { brandOf } from '../organizations/brands.ts'
import { startPayment } from './invoice-payments.ts'
import { mustReturnHome, withReturn } from '../hosted/payer-returns.ts'
import { invoiceOf } from './invoices.ts'
import { payByWallet } from './wallets.ts'

type RequestPart = Pick<Request, 'owner' | 'caller' | 'dependencies'>

// Opening

export async function prepareSession(
  request: Request<Static<typeof PortalRequest>>,
): Promise<PortalSessionCommands['OpenPortal']> {
  const { customerId, returnUrl = null, permissions } = request.body
  if (returnUrl !== null && !URL.canParse(returnUrl))
    refuseField('request_must_be_valid', '/returnUrl', `"${returnUrl}" is not a web address`)
  const known = await namedCustomer(request, customerId)
  if (!known) return refuseUnknown('/customerId', 'customer', customerId)
  const token = await tokenOf(request.dependencies, request.id, request.caller.livemode)
  const asked = permissions ?? portalPermissions
  return {
    customer: known.id,
    hash: hashOf(token),
    permissions: portalPermissions.filter((one) => asked.includes(one)),
    returnUrl,
  }
}

/** It follows from the session and a key of ours, so none is stored. */
export async function tokenOf({ blindIndex }: Dependencies, id: string, livemode: boolean): Promise<string> {
  const halves = [0, 1].map(async (half) => {
    const hmac = await blindIndex(JSON.stringify(['portal token', id, half]))
    return Buffer.from(hmac.replaceAll('-', ''), 'hex').toString('base64url')
  })
  return portalToken(id, livemode, (await Promise.all(halves)).join(''))
}

// Sessions

/** What a session shows to the merchant, who does not see the token again. */
export async function besideSession(
  request: RequestPart,
  _: string,
  state: PortalSession,
): Promise<PortalSides> {
  if (state.status === 'none') throw new Error('a session that is not there has no customer')
  const [customer, merchant] = await Promise.all([
    customerNow(request, state.customer),
    brandOf(request.dependencies, request.owner as MerchantOwner),
  ])
  return { email: customer?.email ?? null, merchant, url: null }
}

interface NewSides extends PortalSides {
  readonly token: string
}

/** To whoever opens it, or has opened it. */
export async function besideOpen(request: RequestPart, id: string, state: PortalSession): Promise<NewSides> {
  const { dependencies, caller } = request
  const token = await tokenOf(dependencies, id, caller.livemode)
  const url = `${dependencies.baseUrl}/portal/${token}`
  return { ...(await besideSession(request, id, state)), url, token }
}

export function viewNewPortalSession(
  id: string,
  state: PortalSession,
  { token, ...sides }: NewSides,
): Static<typeof NewPortalSession> | undefined {
  const session = viewPortalSession(id, state, sides)
  return session && { ...session, token }
}

// What is the customer's own. What the merchant keeps for itself is not shown: metadata, fees, drafts.

const { metadata: _ofInvoices, ...invoiceFields } = InvoiceResource.properties
const { metadata: _ofSubscriptions, ...subscriptionFields } = SubscriptionResource.properties
const {
  metadata: _ofPayments,
  fee: _fee,
  net: _net,
  can_refund: _canRefund,
  timeline: _timeline,
  ...paymentFields
} = PaymentResource.properties

export const CustomerInvoice = record(invoiceFields)
export const CustomerSubscription = record(subscriptionFields)
export const CustomerPayment = record(paymentFields)

export function viewCustomerInvoice(id: string, state: Invoice): Static<typeof CustomerInvoice> | undefined {
  return without(viewInvoice(id, state), ['metadata'])
}

export function viewCustomerSubscription(
  id: string,
  state: Subscription,
): Static<typeof CustomerSubscription> | undefined {
  return without(viewSubscription(id, state), ['metadata'])
}

export function viewCustomerPayment(
  id: string,
  state: PaymentIntent,
): Static<typeof CustomerPayment> | undefined {
  return without(viewPayment(id, state), ['metadata', 'fee', 'net', 'can_refund', 'timeline'])
}

function without<Fields extends object, Name extends keyof Fields & string>(
  view: Fields | undefined,
  names: readonly Name[],
): Omit<Fields, Name> | undefined {
  if (!view) return undefined
  const isShown = ([name]: readonly [string, unknown]) => !names.some((one) => one === name)
  return Object.fromEntries(Object.entries(view).filter(isShown)) as Omit<Fields, Name>
}

/** Nobody is asked to pay a draft. */
const issued = ['open', 'paid', 'void', 'uncollectible']

/** The columns of a customer's invoices. */
export function invoicesOf(customer: string) {
  return { customerId: customer, status: issued }
}

// Paying

export const PortalPayRequest = record({
  source: maybe({
    ...choice('checkout', 'wallet'),
    description: '`wallet`: from the wallet, at once; `checkout` or left out: on a page of ours',
  }),
  country: maybe({ ...Country, description: "Where it is paid; left out, the merchant's country" }),
  returnUrl: maybe({
    ...ConfirmationRequest.properties.return_url,
    description:
      'Where our page leads back to when it is paid: below the origin of the `returnUrl` of the session',
  }),
})

export const CustomerInvoicePayment = record({
  id: InvoiceResource.properties.id,
  object: Type.Unsafe<'invoice_payment'>({ type: 'string', enum: ['invoice_payment'] }),
  livemode: InvoiceResource.properties.livemode,
  created: InvoiceResource.properties.created,
  invoice: CustomerInvoice,
  payment_intent: nullable(Type.String({ description: 'The try to pay, where there is one' })),
  checkout_url: nullable(
    Type.String({ description: 'A page on which it can be paid; null once it is paid' }),
  ),
  paid: Type.Boolean({ description: 'Whether the whole invoice is paid' }),
})

/** What is left of the invoice: on its page, or as far as the wallet goes. */
export async function payFromPortal(
  request: Request<Static<typeof PortalPayRequest>>,
): Promise<Static<typeof CustomerInvoicePayment>> {
  const id = request.params['id']!
  await requireAmong(request, { from: invoices, id, columns: invoicesOf(customerOf(request.caller)) })
  const { returnUrl } = request.body
  await mustReturnHome(request, returnUrl)
  if (request.body.source === 'wallet') {
    requirePermission(request.caller, 'wallet')
    await payByWallet(request, { invoice: id, customer: customerOf(request.caller) })
  } else await startPayment(request, id, { country: request.body.country, countryAt: '/country' })
  const state = await invoiceOf(request, id)
  const invoice = viewCustomerInvoice(id, state)!
  return {
    id: publicId('inv', id),
    object: 'invoice_payment',
    livemode: invoice.livemode,
    created: invoice.created,
    invoice,
    payment_intent: invoice.payment_intent,
    checkout_url: isPayable(state) ? await withReturn(request.dependencies, state.url, returnUrl) : null,
    paid: state.status === 'paid',
  }
}
