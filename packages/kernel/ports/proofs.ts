import type { StoredEvent } from '../ports.ts'

/** What can be proved of the log to people who do not trust its operator. */

/** An event with the proof that it was signed: docs/audit.md. */
export interface Receipt {
  /** What the event commits to, as it is stored: personal fields are sealed. */
  readonly event: object
  /** In base64url; empty in events of the first format. */
  readonly salt: string
  /** The content of its box; null when nothing is sealed, or its subject was erased. */
  readonly personal: Disclosure | null
  /** Of its leaf. */
  readonly index: number
  /** From the leaf upwards, in base64. */
  readonly proof: readonly string[]
  /** A signed note over a tree that has the leaf. */
  readonly checkpoint: string
}

export interface Disclosure {
  /** JSON, byte for byte. */
  readonly content: string
  /** The digest in the event is over this and the content. */
  readonly blind: string
}

/** A root of the tree that the log has signed. */
export interface SignedRoot {
  /** How many events it is over. */
  readonly size: number
  readonly root: Buffer
}

export interface LogSignatures {
  /** The newest root; `undefined` until one is over all events up to this position. */
  rootOver(position: number): Promise<SignedRoot | undefined>
  /** A text that begins with the log's name, with its signature: a signed note. */
  sign(textOf: (origin: string) => string): Promise<string>
}

export interface LogProofs {
  /** The leaf of the event at this position; `undefined` until it is signed. */
  indexOf(position: number): Promise<number | undefined>
  /** `undefined` until it is signed. */
  receiptOf(event: Pick<StoredEvent, 'position'>): Promise<Receipt | undefined>
}
