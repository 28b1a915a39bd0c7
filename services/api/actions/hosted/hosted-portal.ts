import type { PortalPermission } from '../../../../packages/contract/access/callers.ts'
import { publicId } from '../../../../packages/contract/identity.ts'
import { refuse } from '../../../../packages/contract/refusals.ts'
import type { ActsFor, Request } from '../../../../packages/contract/routes.ts'
import { timeZoneOf } from '../../../../packages/contract/locale/time-zones.ts'
import {
  base,
  CountMinor,
  Country,
  Currency,
  nullable,
  record,
  Timestamp,
  Type,
  unixSeconds,
  type Static,
} from '../../../../packages/contract/vocabulary.ts'
import { today } from '../../../../packages/domain/invoices/due.ts'
import type { Invoice } from '../../../../packages/domain/invoices/state.ts'
import type { PaymentIntent } from '../../../../packages/domain/payment-intents/state.ts'
import type { ExistingPortal } from '../../../../packages/domain/portal/portal-session.ts'
import { PortalSessionResource } from '../../../../packages/domain/portal/resource.ts'
import type { Subscription } from '../../../../packages/domain/subscriptions/state.ts'
import { subscription } from '../../../../packages/domain/subscriptions/subscription.ts'
import type { MerchantOwner } from '../../../../packages/kernel/owner.ts'
import type { Documents } from '../../../../packages/kernel/projection.ts'
import { equal, type Where } from '../../../../packages/kernel/ports/reads.ts'
import { invoices } from '../../../../projections/invoices.ts'
import { payments } from '../../../../projections/payment-intents.ts'
import { subscriptions } from '../../../../projections/subscriptions.ts'
import { spendableOf } from '../../../composition/books/wallets.ts'
import { actorOf, openPortal, sessionOf, type OpenPortal } from '../../http/credentials/portal-tokens.ts'
import { currentState } from '../../kinds/current-state.ts'
import { requireAmong } from '../../kinds/parents.ts'
import { brandedMerchant } from '../organizations/brands.ts'
import { activeMerchant } from './checkout-terms.ts'
import { methodsFor, TakesPayments } from './hosted-payment.ts'
import { HostedSubscription, viewHostedSubscription } from './hosted-subscriptions.ts'
import { customerNow } from '../billing/customers.ts'
import {
  CustomerInvoice,
  CustomerPayment,
  viewCustomerInvoice,
  viewCustomerPayment,
} from '../billing/portal.ts'
import { prepareCancel } from '../billing/usage.ts'
import { walletOf } from '../billing/wallets.ts'

// The customer's page. Whoever was given its address is the customer.

export type RequestPart = Pick<Request, 'owner' | 'dependencies' | 'params'>

/** The customer acts for the merchant whose portal it is. An address of nobody is not there. */
export async function ownerOfPortal(
  asked: Pick<RequestPart, 'params' | 'dependencies'>,
): Promise<MerchantOwner> {
  const { merchant, livemode } = (await portalOf(asked)).state
  return { merchant, livemode }
}

/** The same, and who the customer is. */
export async function customerOfPortal(
  asked: Pick<RequestPart, 'params' | 'dependencies'>,
): Promise<ActsFor> {
  const { id, state } = await portalOf(asked)
  return { merchant: state.merchant, livemode: state.livemode, actor: actorOf(id) }
}

async function portalOf({
  params,
  dependencies,
}: Pick<RequestPart, 'params' | 'dependencies'>): Promise<OpenPortal> {
  const found = await sessionOf(dependencies, params['token']!)
  return found ?? refuse('resource_must_exist', { detail: 'No such portal' })
}

export const HostedPortal = record({
  ...base('hosted_portal', 'ps'),
  merchant: PortalSessionResource.properties.merchant,
  email: nullable(Type.String()),
  permissions: PortalSessionResource.properties.permissions,
  return_url: nullable(Type.String()),
  expires_at: Timestamp,
  due: Type.Array(CustomerInvoice, { description: 'The newest invoices that can be paid' }),
  settled: Type.Array(CustomerInvoice, { description: 'The newest invoices that are paid' }),
  subscriptions: Type.Array(HostedSubscription, { description: 'The newest subscriptions' }),
  payments: Type.Array(CustomerPayment, { description: 'The newest payments' }),
  takes_payments: TakesPayments,
  country: { ...Country, description: 'Where what is due is paid' },
  wallet: Type.Array(
    record({
      currency: Currency,
      amount: CountMinor,
      spendable: { ...CountMinor, description: 'Without what was put in by card in the last days' },
    }),
    { description: 'What is in the wallet of the customer, by currency' },
  ),
  topup_currency: nullable({ ...Currency, description: 'What can be put into the wallet here, if anything' }),
})

export type HostedPortalView = Static<typeof HostedPortal>

const shownMost = { due: 50, settled: 10, subscriptions: 20, payments: 10 }

export async function hostedPortal(request: RequestPart): Promise<HostedPortalView> {
  const { dependencies, params, owner } = request
  const { id, state } = await openPortal(dependencies, params['token']!)
  const [{ brand: merchant, country, isActive }, known, lists, wallet] = await Promise.all([
    brandedMerchant(dependencies, owner as MerchantOwner),
    customerNow(request, state.customer),
    listsOf(request, state),
    walletIn(request, state),
  ])
  const { livemode } = state
  // In the customer's own currency, where anybody can pay that.
  const payable = (currency: string) =>
    methodsFor(dependencies, { livemode, country, currency }, null).length > 0 ? currency : null
  const canTopUp = isActive && state.permissions.includes('wallet')
  return {
    id: publicId('ps', id),
    object: 'hosted_portal',
    livemode,
    created: unixSeconds(state.createdAt),
    merchant,
    email: known?.email ?? null,
    permissions: [...state.permissions],
    return_url: state.returnUrl,
    expires_at: state.expiresAt,
    ...lists,
    takes_payments: isActive,
    country,
    wallet,
    topup_currency: known && canTopUp ? payable(known.currency) : null,
  }
}

async function walletIn(
  { dependencies }: RequestPart,
  { customer, permissions, merchant, livemode }: ExistingPortal,
) {
  if (!permissions.includes('wallet')) return []
  const caller = { credential: 'nobody', merchant, livemode, actor: 'public' } as const
  const { balances } = await walletOf({ caller, dependencies }, customer)
  return Promise.all(
    balances.map(async (balance) => {
      const { currency } = balance
      const spendable = await spendableOf(dependencies, { merchant, livemode, customer, currency })
      return { ...balance, spendable }
    }),
  )
}

type Lists = Pick<HostedPortalView, keyof typeof shownMost>

/** What the customer may see, each list by itself. */
async function listsOf(request: RequestPart, { customer, permissions }: ExistingPortal): Promise<Lists> {
  const may = (one: PortalPermission) => permissions.includes(one)
  const own = equal({ customerId: customer })
  const bills = async (statuses: readonly string[], limit: number) => {
    const where: Where[] = [...own, { column: 'status', operator: 'in', value: statuses }]
    return shown(await newest<Invoice>(request, invoices, { where, limit }), viewCustomerInvoice)
  }
  // One after the other: what is paid meanwhile is found by the first, or else by the second.
  const billed = async () => {
    if (!may('invoices')) return asTheyAre([])
    const due = await bills(payableStatuses, shownMost.due)
    return asTheyAre([...due, ...(await bills(['paid'], shownMost.settled))])
  }
  const subscribed = async (limit: number) => {
    if (!may('subscriptions')) return []
    const sought = { where: own, limit }
    return shown(await newest<Subscription>(request, subscriptions, sought), viewHostedSubscription)
  }
  const paid = async (limit: number) => {
    if (!may('payments')) return []
    const sought = { where: equal({ customer }), limit }
    return shown(await newest<PaymentIntent>(request, payments, sought), viewCustomerPayment)
  }
  const [invoiced, subscriptionsOf, paymentsOf] = await Promise.all([
    billed(),
    subscribed(shownMost.subscriptions),
    paid(shownMost.payments),
  ])
  return { ...invoiced, subscriptions: subscriptionsOf, payments: paymentsOf }
}

const payableStatuses = ['open', 'uncollectible']

/** Paid a moment ago, an invoice may have been found among those that are due, or among both. */
function asTheyAre(found: readonly HostedPortalView['due'][number][]): Pick<Lists, 'due' | 'settled'> {
  const bills = [...new Map(found.map((bill) => [bill.id, bill])).values()]
  const among = (statuses: readonly string[]) => bills.filter(({ status }) => statuses.includes(status))
  return { due: among(payableStatuses), settled: among(['paid']) }
}

interface Found<S> {
  readonly id: string
  readonly state: S
}

interface Sought {
  readonly where: readonly Where[]
  readonly limit: number
}

const waitMs = 1_000

/** Also what was made a moment ago, and each as it is now. */
async function newest<S>(
  request: RequestPart,
  from: Documents<never>,
  { where, limit }: Sought,
): Promise<Found<S>[]> {
  const { reads, store } = request.dependencies
  await reads.reached(await store.head(), waitMs, from.name)
  const { rows } = await reads.page<{ id: string }>({
    from: from.name,
    columns: ['id', 'created'],
    where: [...equal({ ...(request.owner as MerchantOwner), shown: true }), ...where],
    order: 'created',
    limit,
  })
  return Promise.all(
    rows.map(async ({ id }) => ({ id, state: (await currentState(request, from, id)) as S })),
  )
}

function shown<S, View>(
  found: readonly Found<S>[],
  view: (id: string, state: S) => View | undefined,
): View[] {
  return found.map(({ id, state }) => view(id, state)).filter((one) => one !== undefined)
}

/** From the page: the subscription ends with its period. */
export async function cancelFromPage(
  request: RequestPart & Pick<Request, 'send'>,
): Promise<HostedPortalView> {
  const { dependencies, params, owner } = request
  const { state } = await permitted(request, 'subscriptions')
  const id = params['id']!
  await requireAmong(request, { from: subscriptions, id, columns: { customerId: state.customer } })
  await activeMerchant(dependencies, (owner as MerchantOwner).merchant)
  const data = await prepareCancel(request, { atPeriodEnd: true })
  await request.send(subscription, id, { type: 'CancelSubscription', data }, { mustExist: true })
  return hostedPortal(request)
}

export async function permitted(
  { dependencies, params }: RequestPart,
  permission: PortalPermission,
): Promise<OpenPortal> {
  const portal = await openPortal(dependencies, params['token']!)
  if (!portal.state.permissions.includes(permission)) refuse('portal_must_allow_it')
  return portal
}

/** The day of a payment, where it was paid. */
export function dayOfPayment({ country, succeeded_at }: HostedPortalView['payments'][number]): string {
  return today(timeZoneOf(country), new Date(succeeded_at))
}
