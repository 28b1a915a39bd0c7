import { customerOf } from '../../../../packages/contract/access/callers.ts'
import { admitPayment, admitPaymentMethod } from '../../../../packages/contract/payments/eligibility.ts'
import { derivedId, publicId } from '../../../../packages/contract/identity.ts'
import { choiceOf, requirePayable, requireRail } from '../../../../packages/contract/payments/rails.ts'
import { Refusal, refuse, refuseField } from '../../../../packages/contract/refusals.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import {
  AmountMinor,
  Country,
  Currency,
  maybe,
  Msisdn,
  nullable,
  optional,
  record,
  Type,
  type Static,
} from '../../../../packages/contract/vocabulary.ts'
import { paymentIntent } from '../../../../packages/domain/payment-intents/payment-intent.ts'
import {
  ConfirmationRequest,
  PaymentIntentResource,
  viewPaymentIntent,
} from '../../../../packages/domain/payment-intents/resource.ts'
import {
  viewWalletTopup,
  WalletTopupResource,
  type WalletView,
} from '../../../../packages/domain/wallets/resource.ts'
import {
  walletTopup,
  type ExistingTopup,
  type WalletTopup,
} from '../../../../packages/domain/wallets/topup.ts'
import { intentOfTopup } from '../../../composition/books/wallet-topups.ts'
import { activeMerchant } from '../hosted/checkout-terms.ts'
import { mustReturnHome, withReturn } from '../hosted/payer-returns.ts'
import { confirmIntent, type Confirming } from '../payment-intents.ts'
import { tokenOf } from './portal.ts'
import { walletOf } from './wallets.ts'

export const WalletQuery = record({ currency: optional(Currency) })

export function ownWallet(request: Request<undefined, Static<typeof WalletQuery>>): Promise<WalletView> {
  return walletOf(request, customerOf(request.caller), request.query.currency)
}

export const TopupRequest = record({
  amount: AmountMinor,
  currency: Currency,
  country: { ...Country, description: 'Where the payer pays' },
  operator: maybe(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description:
        'Who asks the payer to pay, at once. Left out with `msisdn`: the payer chooses on our page',
    }),
  ),
  msisdn: maybe({ ...Msisdn, description: "The payer's telephone" }),
  returnUrl: maybe({
    ...ConfirmationRequest.properties.return_url,
    description: 'Where our page leads back to: below the origin of the `returnUrl` of the session',
  }),
  idempotencyKey: maybe(Type.String({ minLength: 1, maxLength: 64, description: 'The same as the header' })),
})

/** Only here the payer learns what to do next. */
export const AskedTopup = record({
  ...WalletTopupResource.properties,
  next_action: { ...PaymentIntentResource.properties.next_action, description: 'What the payer does' },
  checkout_url: nullable(
    Type.String({ description: 'A page on which it can be paid, as long as the session is open' }),
  ),
})

type TopupCall = Request<Static<typeof TopupRequest>>

/** Asks the payer at once, or on a page of ours. A repeat finds the top-up and its intent as they are. */
export async function topUpWallet(request: TopupCall): Promise<Static<typeof AskedTopup>> {
  const { id, body, caller, dependencies } = request
  const { country, currency, amount: amountMinor, returnUrl } = body
  await activeMerchant(dependencies, caller.merchant)
  await mustReturnHome(request, returnUrl)
  const mobile_money = admitted(request)
  const market = { livemode: caller.livemode, country, currency }
  requirePayable(dependencies.rail, market, { amountMinor, pointer: '/amount' })
  const terms = { customer: customerOf(caller), amount: amountMinor, currency, country }
  const { topup, intent } = await requestTopup(request, terms)
  const payment_method = mobile_money && ({ type: 'mobile_money', mobile_money } as const)
  const asked =
    payment_method && (await confirmTopup(request, intent, { payment_method, return_url: returnUrl ?? null }))
  const { state } = await request.send(walletTopup, id, topup)
  const page = await pageOfTopup(request, id)
  return {
    ...viewWalletTopup(id, state)!,
    next_action: (asked && viewPaymentIntent(intent, asked)?.next_action) ?? null,
    checkout_url: asked ? null : await withReturn(dependencies, page, returnUrl),
  }
}

interface TopupTerms {
  readonly customer: string
  readonly amount: number
  readonly currency: string
  readonly country: string
}

type Requesting = Pick<Request, 'id' | 'send'>

/** The top-up with its intent, which nobody has been asked to pay yet. */
export async function requestTopup(request: Requesting, { country, ...terms }: TopupTerms) {
  const { id } = request
  const intent = derivedId(id, 'payment')
  const topup = { type: 'RequestTopup', data: { ...terms, paymentIntent: intent } } as const
  mustBeFor(terms, (await request.send(walletTopup, id, topup)).state)
  await request.send(paymentIntent, intent, intentOfTopup(id, { ...terms, country }))
  return { topup, intent }
}

export function confirmTopup(
  request: Pick<Request, 'caller' | 'owner' | 'dependencies' | 'send'>,
  intent: string,
  body: Confirming['body'],
) {
  const { caller, owner, dependencies } = request
  const send: TopupCall['send'] = (...order) => request.send(...order)
  return confirmIntent({ body, caller, owner, dependencies, send }, intent)
}

async function pageOfTopup({ caller, dependencies }: TopupCall, id: string): Promise<string> {
  const session = caller.credential === 'customer_portal' ? caller.session : ''
  const token = await tokenOf(dependencies, session, caller.livemode)
  return `${dependencies.baseUrl}/portal/${token}/topups/${publicId('wt', id)}`
}

/** The answer to its key is forgotten after a month; what was asked for is not. */
function mustBeFor(
  { amount, currency }: Pick<ExistingTopup, 'amount' | 'currency'>,
  begun: WalletTopup,
): void {
  if (begun.status === 'none' || begun.amount !== amount || begun.currency !== currency)
    refuse('idempotency_key_must_be_for_one_request')
}

/** Checked before anything is written: a mistyped number leaves nothing behind. */
function admitted({ body, caller, dependencies }: TopupCall) {
  const { amount: amountMinor, currency, country, operator, msisdn } = body
  const terms = { country, currency, amountMinor }
  admitPayment(terms, { country: '/country', currency: '/currency', amount: '/amount' })
  if (!operator && !msisdn) return undefined
  if (!operator) return refuseField('request_must_be_valid', '/operator', 'operator is required with msisdn')
  if (!msisdn) return refuseField('request_must_be_valid', '/msisdn', 'msisdn is required with operator')
  const method = { country, operator, msisdn }
  try {
    const known = admitPaymentMethod(terms, { type: 'mobile_money', ...method })
    requireRail(dependencies.rail, choiceOf({ livemode: caller.livemode, method: known }))
    return method
  } catch (error) {
    if (!(error instanceof Refusal) || !error.details.faults) throw error
    const faults = error.details.faults.map((fault) => {
      return { ...fault, pointer: fault.pointer.replace('/payment_method/mobile_money', '') }
    })
    throw new Refusal(error.reason, { ...error.details, faults })
  }
}
