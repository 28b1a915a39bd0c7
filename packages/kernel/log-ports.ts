import type { StoredEvent } from './ports.ts'

/** What can be proved of the log to those who do not trust who keeps it. */

/** An event with all that shows that it was signed: docs/audit.md. */
export interface Receipt {
  /** What the event commits to, as it is stored: what is personal is sealed. */
  readonly event: object
  /** In base64url; empty in events of the first format. */
  readonly salt: string
  /** What is sealed in it; null when nothing is, or its subject was forgotten. */
  readonly personal: Disclosure | null
  /** Of its leaf. */
  readonly index: number
  /** From the leaf upwards, in base64. */
  readonly proof: readonly string[]
  /** A signed note over a tree that has the leaf. */
  readonly checkpoint: string
}

export interface Disclosure {
  /** JSON, to the byte. */
  readonly content: string
  /** Over which, and the content, the event holds a digest. */
  readonly blind: string
}

export interface LogProofs {
  /** Which leaf stands for the event at this position; `undefined` until it is signed. */
  indexOf(position: number): Promise<number | undefined>
  /** `undefined` until it is signed. */
  receiptOf(event: Pick<StoredEvent, 'position'>): Promise<Receipt | undefined>
}
