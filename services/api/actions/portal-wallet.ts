import { customerOf } from '../../../packages/contract/callers.ts'
import { admitPayment, admitPaymentMethod } from '../../../packages/contract/eligibility.ts'
import { derivedId } from '../../../packages/contract/identity.ts'
import { choiceOf, requireRail } from '../../../packages/contract/rails.ts'
import { Refusal, refuse } from '../../../packages/contract/refusals.ts'
import type { Request } from '../../../packages/contract/routes.ts'
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
} from '../../../packages/contract/vocabulary.ts'
import { account } from '../../../packages/domain/ledger/accounts.ts'
import { wholePlan } from '../../../packages/domain/ledger/plans.ts'
import { paymentIntent } from '../../../packages/domain/payment-intents/payment-intent.ts'
import {
  ConfirmationRequest,
  PaymentIntentResource,
  viewPaymentIntent,
} from '../../../packages/domain/payment-intents/resource.ts'
import {
  viewWalletTopup,
  WalletTopupResource,
  type WalletView,
} from '../../../packages/domain/wallets/resource.ts'
import { walletTopup, type ExistingTopup, type WalletTopup } from '../../../packages/domain/wallets/topup.ts'
import { activeMerchant } from './checkout-terms.ts'
import { confirmIntent } from './payment-intents.ts'
import { walletOf } from './wallets.ts'

export const WalletQuery = record({ currency: optional(Currency) })

export function ownWallet(request: Request<undefined, Static<typeof WalletQuery>>): Promise<WalletView> {
  return walletOf(request, customerOf(request.caller), request.query.currency)
}

export const TopupRequest = record({
  amount: AmountMinor,
  currency: Currency,
  country: { ...Country, description: 'Where the payer pays' },
  operator: Type.String({ minLength: 1, maxLength: 64, description: 'Who asks the payer to pay' }),
  msisdn: { ...Msisdn, description: "The payer's telephone" },
  returnUrl: ConfirmationRequest.properties.return_url,
  idempotencyKey: maybe(Type.String({ minLength: 1, maxLength: 64, description: 'The same as the header' })),
})

/** Only here the payer learns what to do next. */
export const AskedTopup = record({
  ...WalletTopupResource.properties,
  next_action: nullable({
    ...PaymentIntentResource.properties.next_action,
    description: 'What the payer does',
  }),
})

type Asking = Request<Static<typeof TopupRequest>>

/** Asks the payer at once. A repeat finds the top-up and its intent as they are. */
export async function topUpWallet(request: Asking): Promise<Static<typeof AskedTopup>> {
  const { id, body, caller, owner, dependencies } = request
  await activeMerchant(dependencies, caller.merchant)
  const mobile_money = admitted(request)
  const [customer, intent] = [customerOf(caller), derivedId(id, 'payment')]
  const { amount, currency } = body
  const terms = { customer, amount, currency }
  const topup = { type: 'RequestTopup', data: { ...terms, paymentIntent: intent } } as const
  mustBeFor(terms, (await request.send(walletTopup, id, topup)).state)
  const data = {
    ...terms,
    transactionCountry: body.country,
    payerCountry: null,
    railCountry: null,
    description: null,
    metadata: {},
    purpose: { type: 'topup', id } as const,
    plan: wholePlan('topup', account('wallet', customer), amount),
  }
  await request.send(paymentIntent, intent, { type: 'CreateIntent', data })
  const payment_method = { type: 'mobile_money', mobile_money } as const
  const send: Asking['send'] = (...order) => request.send(...order)
  const confirming = {
    body: { payment_method, return_url: body.returnUrl ?? null },
    caller,
    owner,
    dependencies,
    send,
  }
  const asked = viewPaymentIntent(intent, await confirmIntent(confirming, intent))
  const { state } = await request.send(walletTopup, id, topup)
  return { ...viewWalletTopup(id, state)!, next_action: asked?.next_action ?? null }
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
function admitted({ body, caller, dependencies }: Asking) {
  const { amount: amountMinor, currency, country, operator, msisdn } = body
  const terms = { country, currency, amountMinor }
  admitPayment(terms, { country: '/country', currency: '/currency', amount: '/amount' })
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
