/** What must hold, in the order of the report. */
export const rules = {
  log: 'each stream is whole and belongs to one merchant and environment',
  L1: 'debits equal credits in every entry',
  L2: 'no liability is below zero after an entry',
  L3: 'reserved and clearing are the sum of the open holds',
  L4: 'a hold ends at most once, and voiding mirrors it exactly',
  L5: 'entry ids are unique in a book',
  L6: 'a correction mirrors one earlier entry, once',
  L7: 'what only passes through is gone within 24 hours',
  L8: 'sandbox books never meet live books',
  L9: 'nothing is booked into a month that is closed',
  months: 'a month was closed with what its entries come to',
  payouts: 'a payout is sent at most once, and only with its money held',
  effects: 'each event has its entry in the book, and each entry its event',
} as const

export type Rule = keyof typeof rules

export interface Violation extends NoteOptions {
  readonly rule: Rule
  readonly problem: string
}

export interface NoteOptions {
  /** A metric with an alert of its own shows the same, while the service runs. */
  readonly isToldElsewhere?: boolean
}

export type Note = (rule: Rule, problem: string, options?: NoteOptions) => void

/** So many of each rule are named: where everything is wrong, more would help nobody and take all memory. */
const namedMax = 1_000

export type Counts = Readonly<Partial<Record<Rule, number>>>

export class Violations {
  readonly #named: Violation[] = []
  /** What is told elsewhere is counted by itself, so that it hides nothing and alarms nobody. */
  readonly #counts = new Map<string, Omit<Violation, 'problem'> & { count: number }>()

  readonly note: Note = (rule, problem, { isToldElsewhere = false } = {}) => {
    const kind = { rule, ...(isToldElsewhere && { isToldElsewhere }) }
    const key = JSON.stringify(kind)
    const known = this.#counts.get(key) ?? { ...kind, count: 0 }
    this.#counts.set(key, known)
    if (++known.count <= namedMax) this.#named.push({ problem, ...kind })
  }

  get found(): readonly Violation[] {
    const more = [...this.#counts.values()].filter(({ count }) => count > namedMax)
    const unnamed = more.map(({ count, ...kind }) => ({ ...kind, problem: `and ${count - namedMax} more` }))
    return [...this.#named, ...unnamed]
  }

  /** Of each rule that is broken, how often: also what is not named. */
  get counts(): Counts {
    const counts: Partial<Record<Rule, number>> = {}
    for (const { rule, count } of this.#counts.values()) counts[rule] = (counts[rule] ?? 0) + count
    return counts
  }
}
