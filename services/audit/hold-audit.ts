import type { EntryData, PartData, PostingData } from './entry-data.ts'
import { IdTable } from './id-table.ts'
import type { Rule } from './violations.ts'

type Say = (rule: Rule, problem: string) => void

interface OpenHold {
  /** Those that have not ended, by their ids. */
  readonly parts: Map<string, PartData & { sent: boolean }>
  readonly placed: number
}

/** Domain model 2.2: a hold's money is in these two. */
export const heldIn = ['merchant.reserved', 'clearing.payout'] as const
const [reserved, clearing] = heldIn

/** Follows the holds of one book, part by part: each is placed once, sent at most once and ended once. */
export class HoldAudit {
  /** What all open parts hold together. */
  held = 0
  readonly #holds = new Map<string, OpenHold>()
  readonly #ended = new IdTable()

  get open(): number {
    return this.#holds.size
  }

  place(data: EntryData, say: Say): void {
    const { holdId = '', parts = [], amounts } = data
    if (this.#holds.has(holdId) || this.#ended.has(holdId)) return say('L4', `places hold ${holdId} again`)
    const named = parts as readonly PartData[]
    const open = new Map(named.map((part) => [part.id, { ...part, sent: false }]))
    if (open.size !== named.length || open.size === 0)
      say('L4', `places hold ${holdId} without telling its parts apart`)
    const sums = sumsOf(named)
    if (sums.amount !== amounts.amount || sums.fee !== amounts.fee) {
      say('L3', `places hold ${holdId} of ${sums.amount} and a fee of ${sums.fee}, but says otherwise`)
    }
    const expected = new Moves()
    for (const { source, amount, fee } of named) expected.add(source, amount + fee)
    expected.add(reserved, -(sums.amount + sums.fee))
    expected.compare(data.postings, (problem) => say('L3', `places hold ${holdId}, but ${problem}`))
    this.#holds.set(holdId, { parts: open, placed: named.length })
    this.held += sums.amount + sums.fee
  }

  step(type: string, data: EntryData, say: Say): void {
    const { holdId = '' } = data
    const open = this.#holds.get(holdId)
    if (!open) {
      return say('L4', `is a ${type} of ${holdId}, which is ${this.#ended.has(holdId) ? 'over' : 'no hold'}`)
    }
    const parts = this.#partsOf(open, data, say)
    if (type === 'HoldAdvanced') return send(data, parts, say)
    checkMoves(type, data, { parts, say })
    for (const { id, amount, fee } of parts) {
      open.parts.delete(id)
      this.held -= amount + fee
    }
    if (open.parts.size > 0) return
    this.#holds.delete(holdId)
    this.#ended.add(holdId)
  }

  #partsOf({ parts, placed }: OpenHold, { holdId, parts: named }: EntryData, say: Say) {
    if (!named && parts.size !== placed) say('L4', `is about all of hold ${holdId}, parts of which are over`)
    const found = [...parts.values()].filter(({ id }) => !named || (named as readonly string[]).includes(id))
    if (named && found.length !== named.length)
      say('L4', `is about parts of hold ${holdId} that are not open`)
    return found
  }
}

type Part = PartData & { sent: boolean }

function send(data: EntryData, parts: readonly Part[], say: Say): void {
  if (parts.some(({ sent }) => sent)) say('L4', `advances hold ${data.holdId} again`)
  const { amount } = sumsOf(parts)
  const expected = new Moves()
  expected.add(reserved, amount)
  expected.add(clearing, -amount)
  expected.compare(data.postings, (problem) => say('L4', `advances hold ${data.holdId}, but ${problem}`))
  for (const part of parts) part.sent = true
}

interface Checked {
  readonly parts: readonly Part[]
  readonly say: Say
}

/** What was voided is back where it came from; what was posted is at its rails, and its fees are ours. */
function checkMoves(type: string, { holdId, postings }: EntryData, { parts, say }: Checked): void {
  const expected = new Moves()
  for (const { source, amount, fee, feeAccount, rail, sent } of parts) {
    expected.add(sent ? clearing : reserved, amount)
    expected.add(reserved, fee)
    if (type === 'HoldVoided') expected.add(source, -(amount + fee))
    if (type !== 'HoldPosted') continue
    expected.add(rail === null ? railOf(postings) : `provider:${rail}`, -amount)
    if (fee > 0) expected.add(feeAccount ?? 'no account', -fee)
  }
  expected.compare(postings, (problem) => say('L4', `ends hold ${holdId}, but ${problem}`))
}

/** Holds of the first version do not say by which rail they will leave. */
function railOf(postings: readonly PostingData[]): string {
  return postings.find(({ account }) => account.startsWith('provider:'))?.account ?? 'no rail'
}

function sumsOf(parts: readonly PartData[]): { readonly amount: number; readonly fee: number } {
  const sum = (of: (part: PartData) => number) => parts.reduce((total, part) => total + of(part), 0)
  return { amount: sum(({ amount }) => amount), fee: sum(({ fee }) => fee) }
}

/** Debits less credits, by account. */
class Moves {
  readonly #moves = new Map<string, number>()

  add(account: string, amount: number): void {
    this.#moves.set(account, (this.#moves.get(account) ?? 0) + amount)
  }

  compare(postings: readonly PostingData[], say: (problem: string) => void): void {
    const left = new Map(this.#moves)
    for (const { account, side, amount } of postings) {
      left.set(account, (left.get(account) ?? 0) - (side === 'debit' ? amount : -amount))
    }
    const wrong = [...left].filter(([, amount]) => amount !== 0)
    if (wrong.length > 0)
      say(`is wrong by ${wrong.map(([account, amount]) => `${amount} in ${account}`).join(', ')}`)
  }
}
