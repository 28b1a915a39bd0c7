import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import type { EntryData, PostingData } from './entry-data.ts'
import { HoldAudit, heldIn } from './hold-audit.ts'
import { IdTable } from './id-table.ts'
import type { Note, Rule } from './violations.ts'

const isHeld = (account: string) => heldIn.some((held) => held === account)
/** Domain model 2.1: debits raise these, credits raise all others, and only these may be below zero. */
const isAsset = (account: string) => account.startsWith('provider:') || account === 'sandbox.funding'
/** By how much a posting raises its account. */
export const effectOf = ({ account, side, amount }: PostingData) =>
  (side === 'debit') === isAsset(account) ? amount : -amount
/** L7: what may stand here for a day only. */
const isPassing = (account: string) => account === suspense || account.startsWith('transfer.clearing:')
const suspense = 'suspense.unmatched'
const passingMs = 24 * 3_600_000

interface Passing {
  readonly account: string
  readonly subject: string
  readonly amount: number
  readonly since: string
}

/** Counts one book: L1 to L8 of domain model 2.2 after each entry. */
export class BookAudit {
  readonly balances = new Map<string, number>()
  /** Entries that corrections name, by the correction. */
  readonly corrections: { readonly entry: EntryData; readonly position: number }[] = []
  readonly #id: string
  readonly #note: Note
  readonly #entries = new IdTable()
  readonly #holds = new HoldAudit()
  readonly #passing = new Map<string, Passing>()
  /** Months before this time are closed. */
  #closedBefore = ''
  /** What the two accounts differ from the open holds, so that one mistake is told once. */
  #drift = 0

  constructor(id: string, note: Note) {
    this.#id = id
    this.#note = note
  }

  get openHolds(): number {
    return this.#holds.open
  }

  apply(event: RecordedEvent<EntryData>): void {
    const { data } = event
    const say = (rule: Rule, problem: string) =>
      this.#note(rule, `entry ${data.entryId} of ${this.#id} ${problem}`)
    checkPostings(data, say)
    this.#checkPlace(event, say)
    if (data.effectiveAt < this.#closedBefore)
      say('L9', `counts at ${data.effectiveAt}, but all before ${this.#closedBefore} is closed`)
    if (this.#entries.has(data.entryId)) say('L5', 'is there twice')
    this.#entries.add(data.entryId)
    this.#move(data, say)
    if (event.type === 'HoldPlaced') this.#holds.place(data, say)
    else if (data.holdId !== undefined) this.#holds.step(event.type, data, say)
    else if (data.postings.some(({ account }) => isHeld(account)))
      say('L3', 'moves held money without a hold')
    this.#checkHeld(say)
    if (data.template === 'reversal') this.#correct(event, say)
  }

  moveBoundary(before: string): void {
    this.#closedBefore = before
  }

  /** What may stand for a day only and is older. */
  checkPassing(now: Date): void {
    for (const { account, subject, amount, since } of this.#passing.values()) {
      if (now.getTime() - Date.parse(since) <= passingMs) continue
      const problem = `${this.#id} holds ${amount} in ${account} for ${subject} since ${since}`
      this.#note('L7', problem, { isToldElsewhere: account === suspense })
    }
  }

  /** L8: the book's name says whose it is, and so does the entry. */
  #checkPlace({ data, metadata }: RecordedEvent<EntryData>, say: Say): void {
    const { merchant, livemode } = metadata
    const expected = `${merchant}.${livemode ? 'live' : 'test'}.${data.currency}`
    if (expected !== this.#id) say('L8', `says that it belongs to ${expected}`)
    if (livemode && data.postings.some(({ account }) => account === 'sandbox.funding')) {
      say('L8', 'brings play money into a live book')
    }
  }

  #move({ postings, subject, effectiveAt }: EntryData, say: Say): void {
    for (const posting of postings) {
      const { account } = posting
      const before = this.balances.get(account) ?? 0
      const after = before + effectOf(posting)
      this.balances.set(account, after)
      const about = { account, subject: `${subject.type} ${subject.id}` }
      if (isPassing(account)) this.#pass(about, after - before, effectiveAt)
    }
    for (const account of new Set(postings.map((posting) => posting.account))) {
      const balance = this.balances.get(account) ?? 0
      if (balance < 0 && !isAsset(account)) say('L2', `leaves ${account} at ${balance}`)
    }
  }

  #pass(about: Pick<Passing, 'account' | 'subject'>, effect: number, at: string): void {
    const key = `${about.account} ${about.subject}`
    const known = this.#passing.get(key)
    const amount = (known?.amount ?? 0) + effect
    if (amount === 0) this.#passing.delete(key)
    else this.#passing.set(key, { ...about, amount, since: known?.since ?? at })
  }

  #checkHeld(say: Say): void {
    const stands = heldIn.reduce((sum, account) => sum + (this.balances.get(account) ?? 0), 0)
    const drift = stands - this.#holds.held
    if (drift !== this.#drift) {
      say('L3', `leaves ${stands} in reserved and clearing, but open holds of ${this.#holds.held}`)
    }
    this.#drift = drift
  }

  #correct({ data, position }: RecordedEvent<EntryData>, say: Say): void {
    if (data.reverses === undefined) return say('L6', 'corrects nothing')
    if (this.corrections.some(({ entry }) => entry.reverses === data.reverses)) {
      say('L6', `corrects ${data.reverses} again`)
    }
    if (!this.#entries.has(data.reverses)) {
      say('L6', `corrects ${data.reverses}, which is no earlier entry of this book`)
    }
    this.corrections.push({ entry: data, position })
  }
}

type Say = (rule: Rule, problem: string) => void

function checkPostings({ postings }: EntryData, say: Say): void {
  const sum = (side: string) =>
    postings.reduce((total, posting) => (posting.side === side ? total + posting.amount : total), 0)
  if (postings.length < 2) say('L1', `has ${postings.length} postings`)
  for (const { account, side, amount } of postings) {
    if (!Number.isSafeInteger(amount) || amount <= 0) say('L1', `moves ${amount} on ${account}`)
    if (side !== 'debit' && side !== 'credit') say('L1', `has neither a debit nor a credit on ${account}`)
  }
  if (sum('debit') !== sum('credit')) {
    say('L1', `has debits of ${sum('debit')} and credits of ${sum('credit')}`)
  }
}
