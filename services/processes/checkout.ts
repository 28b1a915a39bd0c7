import { checkoutSession } from '../../packages/domain/checkout/checkout-session.ts'
import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { paymentLink } from '../../packages/domain/payment-links/payment-link.ts'
import { readState } from '../../packages/kernel/history.ts'
import { to } from '../../packages/kernel/policy.ts'
import type { DueTimer } from '../../packages/kernel/ports/reads.ts'
import { intentOfAttempt } from '../composition/books/checkout-attempts.ts'
import { endIntent } from './end-intent.ts'
import type { Process, Tools } from './runner/process.ts'

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
  if (ended !== null && !(await endIntent(ended, owner, tools))) return new Date(clock().getTime() + againMs)
  await tools.send(to(checkoutSession, subject, { type: 'ExpireSession', data: { ended } }), owner, 'timer')
  return undefined
}

async function expireLink({ subject, merchant, livemode }: DueTimer, tools: Tools): Promise<undefined> {
  const order = to(paymentLink, subject, { type: 'ExpireLink', data: {} })
  await tools.send(order, { merchant, livemode }, 'timer')
}
