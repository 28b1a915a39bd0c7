import { publicId } from '../../../../packages/contract/identity.ts'
import { admitPayment } from '../../../../packages/contract/payments/eligibility.ts'
import { minorAmount } from '../../../../packages/contract/locale/money-text.ts'
import { PayersMerchant } from '../../../../packages/contract/payments/payers-merchant.ts'
import { requirePayable } from '../../../../packages/contract/payments/rails.ts'
import { refuse, refuseField } from '../../../../packages/contract/refusals.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import {
  AmountMinor,
  base,
  Country,
  Currency,
  literals,
  maybe,
  record,
  Type,
  unixSeconds,
  type Static,
} from '../../../../packages/contract/vocabulary.ts'
import type { ExistingTopup, WalletTopup } from '../../../../packages/domain/wallets/topup.ts'
import type { MerchantOwner } from '../../../../packages/kernel/owner.ts'
import { walletTopups } from '../../../../projections/wallets.ts'
import { currentState } from '../../kinds/current-state.ts'
import { brandedMerchant } from '../organizations/brands.ts'
import { activeMerchant } from './checkout-terms.ts'
import {
  chosenMethod,
  methodsFor,
  type PaymentForm,
  paymentOfPage,
  paymentStatusOf,
  tried,
} from './hosted-payment.ts'
import { permitted, type RequestPart } from './hosted-portal.ts'
import { intentOf } from '../billing/invoice-payments.ts'
import { paidByIntent, receiptOf } from './hosted-receipts.ts'
import { returnIn, withReturn } from './payer-returns.ts'
import { PollAfter, pollAfterMs } from './polling.ts'
import { ifUnderWay, orWhatIsUnderWay } from './under-way.ts'
import { confirmTopup, requestTopup } from '../billing/portal-wallet.ts'
import { customerNow } from '../billing/customers.ts'

// The page of a top-up. It is below that of the portal, and there as long as that is.

export const HostedTopup = record({
  ...base('hosted_topup', 'wt'),
  merchant: PayersMerchant,
  status: literals('pending', 'succeeded', 'failed'),
  payment_status: literals('unpaid', 'processing', 'paid'),
  amount: AmountMinor,
  currency: Currency,
  country: Country,
  ...paymentOfPage,
})

export type HostedTopupView = Static<typeof HostedTopup>

type Seeing = RequestPart & { readonly query?: { readonly back?: unknown } }

export async function hostedTopup(request: Seeing): Promise<HostedTopupView> {
  const { dependencies, owner } = request
  const { id, state } = await ownTopup(request)
  const { brand, isActive } = await brandedMerchant(dependencies, owner as MerchantOwner)
  const intent = await intentOf(request, state.paymentIntent)
  const { amount, currency, livemode, status } = state
  const country = intent?.transactionCountry ?? (await countryOf(request))
  return {
    id: publicId('wt', id),
    object: 'hosted_topup',
    livemode,
    created: unixSeconds(state.createdAt),
    merchant: brand,
    status,
    payment_status: status === 'succeeded' ? 'paid' : paymentStatusOf(intent),
    amount,
    currency,
    country,
    takes_payments: isActive,
    payment_methods:
      isActive && status === 'pending'
        ? methodsFor(dependencies, { livemode, country, currency }, amount)
        : [],
    payment: intent ? tried(intent) : null,
    receipt: status === 'failed' ? null : receiptOf(id, paidByIntent(intent)),
    return_url: await returnIn(dependencies, pageOfTopup(request, id), request.query?.back),
  }
}

function pageOfTopup({ dependencies, params }: RequestPart, id: string): string {
  return `${dependencies.baseUrl}/portal/${params['token']!}/topups/${publicId('wt', id)}`
}

/** Of this portal's customer. */
async function ownTopup(
  request: RequestPart,
): Promise<{ readonly id: string; readonly state: ExistingTopup }> {
  const portal = await permitted(request, 'wallet')
  const id = request.params['id']!
  const state = (await currentState(request, walletTopups, id)) as WalletTopup | undefined
  if (!state || state.status === 'none' || state.customer !== portal.state.customer)
    return refuse('resource_must_exist')
  return { id, state }
}

async function countryOf({ dependencies, owner }: RequestPart): Promise<string> {
  return (await brandedMerchant(dependencies, owner as MerchantOwner)).country
}

export const TopupStanding = record({
  ...base('topup_standing', 'wt'),
  status: HostedTopup.properties.status,
  payment_status: HostedTopup.properties.payment_status,
  poll_after_ms: PollAfter,
})

export async function topupStanding(request: RequestPart): Promise<Static<typeof TopupStanding>> {
  const { id, livemode, created, status, payment_status } = await hostedTopup(request)
  const isUnderWay = payment_status === 'processing' || (payment_status === 'paid' && status === 'pending')
  const poll_after_ms = pollAfterMs(isUnderWay)
  return { id, object: 'topup_standing', livemode, created, status, payment_status, poll_after_ms }
}

export const TopupForm = record({
  Amount: maybe(Type.String({ maxLength: 20, description: 'As people write it: `2 500`' })),
})

/** From the page of the portal. It is paid on a page of its own. */
export async function topUpFromPage(request: Request<Static<typeof TopupForm>>): Promise<HostedTopupView> {
  const { owner, dependencies, body, id } = request
  const { state } = await permitted(request, 'wallet')
  const { country } = await activeMerchant(dependencies, (owner as MerchantOwner).merchant)
  const known = await customerNow(request, state.customer)
  const { currency } = known ?? refuse('resource_must_exist')
  const amount = minorAmount(body.Amount ?? '', currency)
  if (amount === undefined)
    return refuseField('checkout_amount_must_be_known', '/Amount', `"${body.Amount ?? ''}" is no amount`)
  admitPayment({ country, currency, amountMinor: amount }, pointers)
  const market = { livemode: state.livemode, country, currency }
  requirePayable(dependencies.rail, market, { amountMinor: amount, pointer: '/Amount' })
  await requestTopup(request, { customer: state.customer, amount, currency, country })
  return hostedTopup({ owner, dependencies, params: { ...request.params, id } })
}

const pointers = { country: '/Amount', currency: '/Amount', amount: '/Amount' }

/** Pressing twice pays once: what is under way is shown as it is. */
export async function payTopup(
  request: Request<Static<typeof PaymentForm>, { readonly back?: string }>,
): Promise<HostedTopupView> {
  const before = await hostedTopup(request)
  if (before.payment_status !== 'unpaid' || before.status !== 'pending') return before
  const { id, state } = await ownTopup(request)
  await activeMerchant(request.dependencies, (request.owner as MerchantOwner).merchant)
  const payment_method = chosenMethod(request.body, before.country)
  const page = pageOfTopup(request, id)
  const return_url = await withReturn(request.dependencies, page, before.return_url)
  return orWhatIsUnderWay(
    async () => {
      await confirmTopup(request, state.paymentIntent, { payment_method, return_url })
      return hostedTopup(request)
    },
    async () => ifUnderWay(await hostedTopup(request)),
  )
}
