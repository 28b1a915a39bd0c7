import { identity } from '../../packages/contract/identity.ts'
import { customer } from '../../packages/domain/customers/customer.ts'
import { idPrefixes } from '../../packages/domain/index.ts'
import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { webhookReplay } from '../../packages/domain/webhook-endpoints/webhook-replay.ts'
import { streamName } from '../../packages/kernel/decider.ts'
import { ownerOf, type MerchantOwner, type Owner } from '../../packages/kernel/owner.ts'
import type { EventStore } from '../../packages/kernel/ports.ts'

/** Somebody whom events of one owner are about. */
export interface Person {
  readonly owner: Owner
  /** As events name them: `customer/<id>`, `contact/+221…`, `account/<bank>/<number>`. */
  readonly subjects: readonly string[]
}

/** Kinds of ids by which a person, or what was written about one resource, can be named. */
const kinds: Readonly<Record<string, { readonly category: string }>> = {
  customer,
  payment_intent: paymentIntent,
  webhook_replay: webhookReplay,
}

export const waysToName =
  'a customer (cus_…), a telephone number (+221…) or a bank account (<bank code>/<number>)'

/** Whether only together with its merchant it names somebody. */
export function namesContact(text: string): boolean {
  return /^\+[1-9]\d{6,14}$/.test(text) || /^[^/]+\/[^/]+$/.test(text)
}

/** A telephone number or an account, as payments and payouts of a merchant name it. */
export function contactOf(text: string, owner: MerchantOwner): Person {
  return { owner, subjects: [text.startsWith('+') ? `contact/${text}` : `account/${text}`] }
}

/** The person that an id stands for; `undefined` when there is none. */
export async function personOf(
  store: Pick<EventStore, 'readStream'>,
  text: string,
): Promise<Person | undefined> {
  for (const [kind, { category }] of Object.entries(kinds)) {
    const id = identity(text, idPrefixes[kind]!)
    const [first] = id === undefined ? [] : await store.readStream(streamName(category, id), 0, 1)
    if (first) return { owner: ownerOf(first.metadata), subjects: [`${category}/${id}`] }
  }
  return undefined
}
