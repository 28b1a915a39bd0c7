import { setTimeout as pause } from 'node:timers/promises'
import { quoteFee } from '../../../../packages/contract/payments/fees.ts'
import { derivedId, publicId } from '../../../../packages/contract/identity.ts'
import { Refusal, refuse, refuseField } from '../../../../packages/contract/refusals.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import type { Static } from '../../../../packages/contract/vocabulary.ts'
import type { Customer } from '../../../../packages/domain/customers/customer.ts'
import { invoice } from '../../../../packages/domain/invoices/invoice.ts'
import {
  amountLeft,
  isPayable,
  why,
  type ExistingInvoice,
} from '../../../../packages/domain/invoices/state.ts'
import { walletApplication } from '../../../../packages/domain/wallets/application.ts'
import {
  viewWalletApplication,
  type WalletApplicationView,
  type WalletApplyRequest,
  type WalletView,
} from '../../../../packages/domain/wallets/resource.ts'
import { readState } from '../../../../packages/kernel/history.ts'
import { activeMerchant } from '../hosted/checkout-terms.ts'
import { endAttempt } from './invoice-payments.ts'
import { invoiceOf } from './invoices.ts'
import { customerOf } from './subscriptions.ts'
import {
  listedSum,
  movementsOf,
  spendableOf,
  walletSum,
  walletSums,
} from '../../../composition/books/wallets.ts'

/** What the action needs of a request, whatever its body was. */
export type Applying = Pick<Request, 'caller' | 'owner' | 'dependencies' | 'send' | 'id'>

export interface WalletWish {
  readonly invoice: string
  readonly customer?: string | undefined
  readonly amount?: number | undefined
  readonly description?: string | undefined
}

export async function applyWallet(
  request: Request<Static<typeof WalletApplyRequest>>,
): Promise<WalletApplicationView> {
  const { customer_id: customer, amount, description } = request.body
  const given = customer ? await customerOf(request, customer, '/customer_id') : undefined
  return payByWallet(request, {
    invoice: request.params['invoiceId']!,
    customer: given?.id,
    amount: amount ?? undefined,
    description: description ?? undefined,
  })
}

/** How often the wallet may be found to be emptier than it was a moment before. */
const triesMax = 5

/**
 * The invoice is told first, and waits for the book. A repeat of the request meets the same application, or
 * tries again where the book has refused it.
 */
export async function payByWallet(request: Applying, wish: WalletWish): Promise<WalletApplicationView> {
  const { store } = request.dependencies
  for (let number = 1; number <= triesMax; number++) {
    const id = number === 1 ? request.id : derivedId(request.id, `try ${number}`)
    const known = await readState(store, walletApplication, id)
    // Its answer is forgotten after a month; what it has paid is not.
    if (known.status !== 'none' && known.invoice !== wish.invoice)
      refuse('idempotency_key_must_be_for_one_request')
    if (known.status === 'failed') continue
    if (known.status === 'none') await start(request, id, wish)
    await answeredByBook(request, wish.invoice, id)
    const shown = viewWalletApplication(id, await readState(store, walletApplication, id))
    if (shown) return shown
  }
  return refuse('resource_must_not_have_changed')
}

async function start(request: Applying, application: string, wish: WalletWish): Promise<void> {
  const { caller, dependencies } = request
  const current = await invoiceOf(request, wish.invoice)
  if (current.walletPayment?.application === application) return
  await activeMerchant(dependencies, caller.merchant)
  if (!isPayable(current)) refuse('invoice_state_must_allow_it', { detail: why(current) })
  const customer = payerOf(current, wish.customer)
  const { currency } = current
  const covered = await spendableOf(dependencies, { ...caller, customer, currency })
  const amount = Math.min(wish.amount ?? Infinity, amountLeft(current), covered)
  if (amount === 0) {
    const detail = `The wallet has nothing in ${currency} that can be spent now`
    throw new Refusal('wallet_must_cover_the_amount', { detail })
  }
  const asked = {
    operation: 'wallet_apply',
    amountMinor: amount,
    currency,
    merchant: caller.merchant,
  } as const
  const { feeMinor: fee } = quoteFee(asked, dependencies.clock(caller))
  const ended = await endAttempt(request, wish.invoice, current)
  const terms = { application, customer, amount, fee, description: wish.description ?? null }
  const command = { type: 'StartWalletPayment', data: { ...terms, ended } } as const
  await request.send(invoice, wish.invoice, command, { mustExist: true })
}

function payerOf({ customer }: ExistingInvoice, named: string | undefined): string {
  const other = (message: string) => refuseField('billing_terms_must_fit', '/customer_id', message)
  if (customer !== null && named !== undefined && named !== customer)
    return other('this is not the customer of the invoice')
  return customer ?? named ?? other('customer_id is required: the invoice names no customer')
}

const looks = 250
const looksEveryMs = 20

/**
 * Waits until no payment of the invoice by wallet is open, or not the one that is named. The policies take
 * the money and pay the invoice within a moment.
 */
export async function answeredByBook(
  request: Pick<Applying, 'owner' | 'dependencies'>,
  invoiceId: string,
  application?: string,
): Promise<void> {
  for (let look = 1; look <= looks; look++) {
    const { walletPayment } = await invoiceOf(request, invoiceId)
    const isAnother = application !== undefined && walletPayment?.application !== application
    if (isAnother || !walletPayment?.isOpen) return
    await pause(looksEveryMs)
  }
  refuse('dependency_must_answer_in_time', { detail: 'The book has not answered yet', retryAfterSeconds: 1 })
}

/** What is in a customer's wallet, with the latest movements. */
export async function walletOf(
  { caller, dependencies }: Pick<Request, 'caller' | 'dependencies'>,
  customer: string,
  currency?: string,
): Promise<WalletView> {
  const { merchant, livemode } = caller
  const of = { merchant, livemode, customer, ...(currency && { currency }) }
  const balances = await walletSums(dependencies, of)
  return {
    object: 'wallet',
    id: publicId('cus', customer),
    livemode,
    customer: publicId('cus', customer),
    balances: balances.map((one) => ({ currency: one.currency, amount: one.amount })),
    transactions: await movementsOf(dependencies, of),
  }
}

/** In the customer's own currency. */
export const walletBalance = inOwnCurrency(walletSum)
export const listedBalance = inOwnCurrency(listedSum)

function inOwnCurrency(sum: typeof walletSum) {
  return async (
    { caller, dependencies }: Pick<Request, 'caller' | 'dependencies'>,
    customer: string,
    state: Customer,
  ): Promise<number> => {
    if (state.status !== 'active') return 0
    const { merchant, livemode } = caller
    return sum(dependencies, { merchant, livemode, customer, currency: state.currency })
  }
}
