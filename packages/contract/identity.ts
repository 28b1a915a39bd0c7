import { v5 } from 'uuid'

/**
 * One identity, two spellings: objects that the specification shows with a public string id are written as a
 * prefix and 32 hex digits, all others as a bare UUID. Every id that comes in may have either spelling.
 */
export const prefixes = {
  payout: 'po',
  payment_intent: 'pi',
  payment: 'pay',
  refund: 're',
  customer: 'cus',
  balance_transaction: 'txn',
  event: 'evt',
  webhook_endpoint: 'we',
  webhook_replay: 'wr',
  operation: 'op',
} as const

export type Prefixed = keyof typeof prefixes

/** `payout` and `0190a1b2-…` make `po_0190a1b2…`. */
export function publicId(kind: Prefixed, uuid: string): string {
  return `${prefixes[kind]}_${uuid.replaceAll('-', '')}`
}

const spelling =
  /^(?:([a-z]{2,8})_)?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/i

/** The UUID behind either spelling; `undefined` for what is none, or carries the prefix of something else. */
export function identity(text: string, ...kinds: readonly Prefixed[]): string | undefined {
  const [, prefix, ...groups] = spelling.exec(text) ?? []
  if (groups.length === 0) return undefined
  if (prefix && !kinds.some((kind) => prefixes[kind] === prefix.toLowerCase())) return undefined
  return groups.join('-').toLowerCase()
}

/** The same name under the same namespace is always the same id (UUID version 5). */
export function derivedId(namespace: string, name: string): string {
  // `uuid` would take as long to read the namespace as to hash the name.
  return v5(Buffer.from(name), Buffer.from(namespace.replaceAll('-', ''), 'hex'))
}
