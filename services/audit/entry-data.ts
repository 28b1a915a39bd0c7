/** An entry as it stands in the log. Nothing of the ledger's own code is used: an auditor counts again. */
export interface EntryData {
  readonly entryId: string
  readonly template: string
  readonly subject: { readonly type: string; readonly id: string }
  readonly postings: readonly PostingData[]
  readonly amounts: { readonly amount: number; readonly fee: number }
  readonly currency: string
  readonly effectiveAt: string
  readonly holdId?: string
  /** Of a hold that is placed, what it consists of; of a step, the names of those that take it. */
  readonly parts?: readonly PartData[] | readonly string[]
  readonly owner?: string
  readonly reverses?: string
}

export interface PartData {
  readonly id: string
  readonly source: string
  readonly amount: number
  readonly fee: number
  readonly feeAccount: string | null
  readonly rail: string | null
}

export interface PostingData {
  readonly account: string
  readonly side: string
  readonly amount: number
}
