import { identity } from '../../packages/contract/identity.ts'
import type { Dependencies } from '../../packages/contract/routes.ts'
import { claim, claimedName } from '../../packages/domain/claims/claim.ts'
import { customer } from '../../packages/domain/customers/customer.ts'
import { idPrefixes } from '../../packages/domain/index.ts'
import { paymentIntent } from '../../packages/domain/payment-intents/payment-intent.ts'
import { user } from '../../packages/domain/users/user.ts'
import { webhookReplay } from '../../packages/domain/webhook-endpoints/webhook-replay.ts'
import { streamName } from '../../packages/kernel/decider.ts'
import { readState } from '../../packages/kernel/history.ts'
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
  'a customer (cus_…), a user (e-mail address), a telephone number (+221…) or a bank account (<bank code>/<number>)'

export function namesUser(text: string): boolean {
  return /^[^\s@/]+@[^\s@/]+$/.test(text) || identity(text) !== undefined
}

/** Who signs in with an address, or has this id; also one whose account is over. */
export async function userNamed(
  { store, blindIndex }: Pick<Dependencies, 'store' | 'blindIndex'>,
  text: string,
): Promise<Person | undefined> {
  const id = identity(text) ?? (await userOf({ store, blindIndex }, text))
  const [first] = id === undefined ? [] : await store.readStream(streamName(user.category, id), 0, 1)
  return first && { owner: ownerOf(first.metadata), subjects: [`${user.category}/${id}`] }
}

async function userOf(
  { store, blindIndex }: Pick<Dependencies, 'store' | 'blindIndex'>,
  email: string,
): Promise<string | undefined> {
  const held = await readState(
    store,
    claim,
    await blindIndex(claimedName('email', email, { platform: true })),
  )
  return held.status === 'free' || held.holder.category !== user.category ? undefined : held.holder.id
}

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
