import { Refusal } from '../../packages/contract/refusals.ts'
import { checkoutSession } from '../../packages/domain/checkout/checkout-session.ts'
import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { paymentLink } from '../../packages/domain/payment-links/payment-link.ts'
import { readState } from '../../packages/kernel/history.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { DueTimer } from '../../packages/kernel/read-ports.ts'
import { intentOfAttempt } from '../composition/checkout-attempts.ts'
import type { Process, Tools } from './process.ts'

/** What is under way at the operator may still be paid: it is looked at again after this long. */
const againMs = 60_000

export const checkoutProcess: Process = {
  timers: { checkout_expiry: expireSession, payment_link_expiry: expireLink },
}

/** First nobody can pay it any more, then it has expired. */
async function expireSession(
  { subject, merchant, livemode }: DueTimer,
  tools: Tools,
): Promise<Date | undefined> {
  const { store, clock } = tools.dependencies
  const session = await readState(store, checkoutSession, subject)
  if (session.status !== 'open') return undefined
  const owner = { merchant, livemode }
  const ended = session.attempt?.paymentIntent ?? null
  if (session.attempt) {
    // Attached, and about to be made by whoever pays: it has to be there to be ended.
    const { id, command } = intentOfAttempt(subject, { ...session, attempt: session.attempt })
    await tools.send(to(paymentIntent, id, command), owner, 'timer')
  }
  if (ended !== null && !(await hasEnded(ended, owner, tools))) return new Date(clock().getTime() + againMs)
  await tools.send(to(checkoutSession, subject, { type: 'ExpireSession', data: { ended } }), owner, 'timer')
  return undefined
}

type Merchant = Pick<DueTimer, 'merchant' | 'livemode'>

async function hasEnded(id: string, owner: Merchant, tools: Tools): Promise<boolean> {
  const intent = await readState(tools.dependencies.store, paymentIntent, id)
  // Paid: the policy that completes the session is about to say so.
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

async function expireLink({ subject, merchant, livemode }: DueTimer, tools: Tools): Promise<undefined> {
  const order = to(paymentLink, subject, { type: 'ExpireLink', data: {} })
  await tools.send(order, { merchant, livemode }, 'timer')
}
