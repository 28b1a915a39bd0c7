import type { HoldPart, LedgerEvents, Subject } from './events.ts'
import type { entryTemplates, HoldTemplate, PostedTemplate } from './templates.ts'

/** What a template's postings need besides its purpose. */
export type PostEntry = {
  readonly [Name in PostedTemplate]: Parameters<(typeof entryTemplates)[Name]>[0] & {
    readonly template: Name
    readonly subject: Subject
    /** Left out: the first of this kind for its subject. */
    readonly nth?: number
    readonly description?: string
    /** When it counts, where that is not now. */
    readonly effectiveAt?: string
    readonly counterparty?: string
    /** Of a policy: what the balances do not cover is an event that it follows, and parks no book. */
    readonly isRefusable?: true
    /** From a request: it was looked for among this many first entries that people asked for. */
    readonly notAmong?: number
  }
}[PostedTemplate]

/** A hold has the id of its subject: one payout, one hold. */
export interface PlaceHold {
  readonly template: HoldTemplate
  readonly subject: Subject
  /** The stream that will claim the hold. If it has not within five minutes, the money is given back. */
  readonly owner: string
  readonly parts: readonly HoldPart[]
  /** For a refund: what is still pending of this payment is taken before merchant.available. */
  readonly payment?: string
  readonly description?: string
}

/** Some parts of a hold; left out: all open ones. */
interface NamedParts {
  readonly holdId: string
  readonly parts?: readonly string[]
}

type Corrected = Pick<PostEntry, 'description' | 'effectiveAt'>

export type BookCommands = {
  PostEntry: PostEntry
  /** payment.available: what refunds have left of a card payment. Sent until nothing is pending or held. */
  ReleasePayment: { readonly payment: string }
  /** reversal: an operator's correction of an earlier entry of this book. */
  ReverseEntry: Corrected & { readonly entry: LedgerEvents['EntryPosted'] }
  PlaceHold: PlaceHold
  AdvanceHold: NamedParts
  /** Holds of the first version do not know their rail. */
  PostHold: NamedParts & { readonly rail?: string }
  VoidHold: NamedParts
  /** Voids a hold that its owner does not claim; one that has ended stays as it is. */
  GiveBackHold: { readonly holdId: string }
  /** Nothing counts before this time any more. A book is closed again by a later time only. */
  CloseBook: { readonly before: string }
  ReopenBook: { readonly before: string }
}
