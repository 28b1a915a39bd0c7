import { Refusal } from '../../packages/contract/refusals.ts'
import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { readState } from '../../packages/kernel/history.ts'
import type { MerchantOwner } from '../../packages/kernel/owner.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { Tools } from './runner/process.ts'

/** True when nobody can pay it any more; false while it is under way at the operator, or is paid. */
export async function endIntent(id: string, owner: MerchantOwner, tools: Tools): Promise<boolean> {
  const intent = await readState(tools.dependencies.store, paymentIntent, id)
  if (intent.status === 'processing' || intent.status === 'succeeded') return false
  if (intent.status === 'failed' || intent.status === 'canceled') return true
  try {
    await tools.send(to(paymentIntent, id, { type: 'CancelIntent', data: {} }), owner, 'timer')
    return true
  } catch (error) {
    if (error instanceof Refusal && error.reason === 'intent_must_be_cancelable') return false
    throw error
  }
}
