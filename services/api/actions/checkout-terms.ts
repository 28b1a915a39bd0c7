import { admitPayment } from '../../../packages/contract/eligibility.ts'
import { identity } from '../../../packages/contract/identity.ts'
import { offeredMethods, type MethodType } from '../../../packages/contract/payment-methods.ts'
import { requireRail } from '../../../packages/contract/rails.ts'
import { refuse, refuseField } from '../../../packages/contract/refusals.ts'
import type { Request } from '../../../packages/contract/routes.ts'
import { merchant } from '../../../packages/domain/merchants/merchant.ts'
import {
  isOpen,
  type ExistingLink,
  type PaymentLink,
} from '../../../packages/domain/payment-links/payment-link.ts'
import { noneOf } from '../kinds/prefixes.ts'
import { readState } from '../../../packages/kernel/history.ts'
import { paymentLinks } from '../../../projections/payment-links.ts'
import { currentState } from '../kinds/current-state.ts'

type Asking = Pick<Request, 'caller' | 'owner' | 'dependencies'>

/** What a merchant may leave out: it is the merchant's own. */
interface Given {
  readonly currency?: string | null | undefined
  readonly country?: string | null | undefined
  readonly paymentMethodTypes?: readonly MethodType[] | null | undefined
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
  { caller, dependencies }: Asking,
  given: Given,
  amount: number | null,
): Promise<Terms> {
  const own = await activeMerchant(dependencies, caller.merchant)
  const { currency = null, country = null } = given
  const place = { currency: currency ?? own.currency, country: country ?? own.country }
  const { livemode } = caller
  if (amount !== null) admitPayment({ ...place, amountMinor: amount }, pointers)
  const methods = offeredMethods(place, given.paymentMethodTypes)
  if (methods.length === 0) {
    const message = `"${place.currency}" cannot be paid in ${place.country}`
    refuseField('payment_must_be_eligible', pointers.currency, message)
  }
  requireRail(dependencies.rail, { livemode, country: place.country })
  return { amount, ...place, methods }
}

/** Whoever is suspended collects nothing, also where strangers ask. */
export async function activeMerchant({ store }: Asking['dependencies'], id: string) {
  const state = await readState(store, merchant, id)
  if (state.status === 'none') throw new Error(`there is no merchant ${id}`)
  if (state.status === 'suspended') refuse('merchant_must_not_be_suspended')
  return state
}

/** The link that a session is opened for. */
export async function openLink(request: Asking, id: string): Promise<ExistingLink> {
  const link = (await currentState(request, paymentLinks, id)) as PaymentLink | undefined
  if (!link || link.status === 'none') {
    return refuse('resource_must_exist', { detail: noneOf(['payment_link'], id) })
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

/** Domain model 5.3: two fields for the same link. */
export function linkIdOf({ paymentLinkId, paymentLinkV2Id }: Linked): string | undefined {
  const [one, other] = [paymentLinkId, paymentLinkV2Id].map((text) => (text ? identity(text) : undefined))
  if (one && other && one !== other) {
    const message = 'paymentLinkV2Id names another link than paymentLinkId'
    refuseField('checkout_amount_must_be_known', '/paymentLinkV2Id', message)
  }
  return one ?? other
}
