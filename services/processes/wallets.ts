import { markets, paymentCurrencies } from '../../packages/contract/payments/catalog.ts'
import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { walletTopup } from '../../packages/domain/wallets/topup.ts'
import { readState } from '../../packages/kernel/history.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { DueTimer } from '../../packages/kernel/ports/reads.ts'
import { intentOfTopup } from '../composition/books/wallet-topups.ts'
import { endIntent } from './end-intent.ts'
import type { Process, Tools } from './runner/process.ts'

/** What is under way at the operator may still be paid: it is looked at again after this long. */
const againMs = 60_000

export const walletProcess: Process = { timers: { topup_expiry: expireTopup } }

/** The top-up fails with its intent: first nobody can pay it any more. */
async function expireTopup(
  { subject, merchant, livemode }: DueTimer,
  tools: Tools,
): Promise<Date | undefined> {
  const { store, clock } = tools.dependencies
  const owner = { merchant, livemode }
  const topup = await readState(store, walletTopup, subject)
  if (topup.status !== 'pending') return undefined
  const { customer, amount, currency, paymentIntent: id } = topup
  // A repeat of the request may be about to make it: it has to be there to be ended.
  const country = someCountryWith(currency)
  const command = intentOfTopup(subject, { customer, amount, currency, country })
  await tools.send(to(paymentIntent, id, command), owner, 'timer')
  return (await endIntent(id, owner, tools)) ? undefined : new Date(clock().getTime() + againMs)
}

function someCountryWith(currency: string): string {
  const market = markets.find(({ country }) => paymentCurrencies(country).includes(currency))
  if (!market) throw new Error(`${currency} can be paid nowhere`)
  return market.country
}
