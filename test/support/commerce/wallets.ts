import { identity } from '../../../packages/contract/identity.ts'
import { paymentIntent } from '../../../packages/domain/payment-intents/payment-intent.ts'
import { walletTopup } from '../../../packages/domain/wallets/topup.ts'
import { equal } from '../../../packages/kernel/ports/reads.ts'
import { intentOfTopup } from '../../../services/composition/books/wallet-topups.ts'
import { walletBalances, walletMovements } from '../../../projections/wallets.ts'
import { answerPayment } from './checkout.ts'
import { eventually } from '../eventually.ts'
import type { TestService } from '../service.ts'

interface Asked {
  readonly customer: string
  readonly amount: number
  readonly method?: object
}

/** A top-up whose payer has been asked; answers its id and its payment intent. */
export async function askForTopup(
  service: TestService,
  { customer, amount, method = phone }: Asked,
): Promise<{ readonly id: string; readonly intent: string }> {
  const { dependencies } = service.service.runtime
  const { merchant_id: merchant } = service.service.credentials
  const envelope = { merchant, livemode: false, actor: 'key:test', correlation: 'test' }
  const [id, intent] = [dependencies.newId(), dependencies.newId()]
  const whose = identity(customer, 'cus')!
  const terms = { customer: whose, amount, currency: 'XOF' }
  const topup = { type: 'RequestTopup', data: { ...terms, paymentIntent: intent } } as const
  await dependencies.executor.send(walletTopup, id, topup, envelope)
  const order = intentOfTopup(id, { ...terms, country: 'CI' })
  await dependencies.executor.send(paymentIntent, intent, order, envelope)
  const shown = `pi_${intent.replaceAll('-', '')}`
  const asked = await service.post(`/api/v1/payment-intents/${shown}/confirm`, { payment_method: method })
  if (asked.status !== 200) throw new Error(JSON.stringify(asked.body))
  return { id, intent: shown }
}

const mobile_money = { country: 'CI', operator: 'orange_money', msisdn: '+2250700000042' }
const phone = { type: 'mobile_money', mobile_money }
export const card = { type: 'card', card: { token: 'tok_visa' } }

/** The same, paid, and counted in the wallet. */
export async function topUp(service: TestService, asked: Asked): Promise<string> {
  const { intent } = await askForTopup(service, asked)
  const { status } = (await service.get(`/api/v1/payment-intents/${intent}`)).body
  if (status !== 'succeeded') await answerPayment(service, intent)
  const where = equal({ payment: identity(intent, 'pi')! })
  const { reads } = service.service.runtime.dependencies
  const movements = () => reads.page({ from: walletMovements.name, where, order: 'position', limit: 1 })
  await eventually(movements, ({ rows }) => rows.length > 0)
  const balances = () => reads.page({ from: walletBalances.name, where: [], order: 'currency', limit: 1 })
  const counted = (await movements()).position
  await eventually(balances, ({ position }) => position >= counted)
  return intent
}
