import { admitPayment } from '../../../../packages/contract/payments/eligibility.ts'
import { identity } from '../../../../packages/contract/identity.ts'
import { quoteFee, type FeeMode } from '../../../../packages/contract/payments/fees.ts'
import { spelledAmount } from '../../../../packages/contract/locale/money-text.ts'
import {
  isPayableBy,
  offeredMethods,
  type MethodType,
} from '../../../../packages/contract/payments/payment-methods.ts'
import { isServedBy } from '../../../../packages/contract/payments/rails.ts'
import { refuse, refuseField } from '../../../../packages/contract/refusals.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import { merchant } from '../../../../packages/domain/merchants/merchant.ts'
import {
  isOpen,
  type ExistingLink,
  type PaymentLink,
} from '../../../../packages/domain/payment-links/payment-link.ts'
import { refuseUnknown } from '../../kinds/prefixes.ts'
import { readState } from '../../../../packages/kernel/history.ts'
import { paymentLinks } from '../../../../projections/payment-links.ts'
import { currentState } from '../../kinds/current-state.ts'

type RequestPart = Pick<Request, 'caller' | 'owner' | 'dependencies'>

/** What a merchant may leave out: it is the merchant's own. */
interface Given {
  readonly currency?: string | null | undefined
  readonly country?: string | null | undefined
  readonly paymentMethodTypes?: readonly MethodType[] | null | undefined
}

interface Price {
  /** Null: the payer chooses it. */
  readonly amount: number | null
  readonly feeMode: FeeMode
}

export interface Terms {
  readonly amount: number | null
  readonly currency: string
  readonly country: string
  readonly methods: MethodType[]
}

const pointers = { country: '/country', currency: '/currency', amount: '/amount' }

/** What payers are offered; refused where nobody could ever pay it. */
export async function admittedTerms(
  { caller, owner, dependencies }: RequestPart,
  given: Given,
  { amount, feeMode }: Price,
): Promise<Terms> {
  const { merchant, livemode } = caller
  const own = await activeMerchant(dependencies, merchant)
  const { currency = null, country = null } = given
  const place = { currency: currency ?? own.currency, country: country ?? own.country }
  if (amount !== null) admitPayment({ ...place, amountMinor: amount }, pointers)
  const now = dependencies.clock(owner)
  const totalBy = (type: MethodType) =>
    amount === null ? null : amount + payerFee({ ...place, merchant, feeMode, amount, type }, now)
  const isPossible = (type: MethodType) =>
    isPayableBy(type, place, null) && isPayableBy(type, place, totalBy(type))
  const methods = offeredMethods(isPossible, given.paymentMethodTypes)
  if (methods.length === 0) {
    const pointer = amount === null ? pointers.currency : pointers.amount
    const sum = amount === null ? place.currency : `${spelledAmount(amount)} ${place.currency}`
    refuseField(
      'payment_must_be_eligible',
      pointer,
      `Nobody can pay ${sum} in ${place.country}, with the fee`,
    )
  }
  const isServed = (type: MethodType) =>
    isServedBy(dependencies.rail, type, { ...place, livemode }, totalBy(type))
  if (!methods.some(isServed)) refuse('live_provider_must_be_configured')
  return { amount, ...place, methods }
}

interface Charged {
  readonly merchant: string
  readonly currency: string
  readonly country: string
  readonly feeMode: FeeMode
  readonly amount: number
  readonly type: MethodType
  readonly operator?: string | undefined
}

/** What the payer pays on top. */
export function payerFee({ amount: amountMinor, type: method, ...asked }: Charged, now: Date): number {
  if (asked.feeMode !== 'customer_pays') return 0
  return quoteFee({ operation: 'payment', amountMinor, method, ...asked }, now).feeMinor
}

/** Whoever is suspended collects nothing, also where strangers ask. */
export async function activeMerchant({ store }: RequestPart['dependencies'], id: string) {
  const state = await readState(store, merchant, id)
  if (state.status === 'none') throw new Error(`there is no merchant ${id}`)
  if (state.status === 'suspended') refuse('merchant_must_not_be_suspended')
  return state
}

/** The link that a session is opened for; `pointer` is the field of the body that names it, if one does. */
export async function openLink(request: RequestPart, id: string, pointer?: string): Promise<ExistingLink> {
  const link = (await currentState(request, paymentLinks, id)) as PaymentLink | undefined
  if (!link || link.status === 'none') {
    return pointer ? refuseUnknown(pointer, 'payment_link', id) : refuse('resource_must_exist')
  }
  const now = request.dependencies.clock(request.owner)
  if (!isOpen(link, now)) refuse('payment_link_must_be_open', { detail: closed[link.status] })
  return link
}

const closed = {
  active: 'The payment link has expired',
  expired: 'The payment link has expired',
  inactive: 'The payment link was deactivated',
  completed: 'The payment link was for one payment, which was made',
} as const

interface Linked {
  readonly paymentLinkId?: string | null | undefined
  readonly paymentLinkV2Id?: string | null | undefined
}

/** The field that names the link. */
export function linkPointer({ paymentLinkId }: Linked): string {
  return paymentLinkId ? '/paymentLinkId' : '/paymentLinkV2Id'
}

/** Domain model 5.3: two fields for the same link. */
export function linkIdOf({ paymentLinkId, paymentLinkV2Id }: Linked): string | undefined {
  const [one, other] = [paymentLinkId, paymentLinkV2Id].map((text) => (text ? identity(text) : undefined))
  if (one && other && one !== other) {
    const message = 'paymentLinkV2Id names another link than paymentLinkId'
    refuseField('checkout_amount_must_be_known', '/paymentLinkV2Id', message)
  }
  return one ?? other
}
