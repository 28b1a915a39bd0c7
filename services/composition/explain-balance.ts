import type { Dependencies } from '../../packages/contract/routes.ts'
import { planOf, sumOfCells, type Moment, type Plan } from '../../packages/domain/balances/days.ts'
import type {
  ExplainedEntry,
  ExplainedHold,
  ExplainedHolds,
  Explanation,
} from '../../packages/domain/balances/explanation.ts'
import { movementOf, sumOf } from '../../packages/domain/balances/movement.ts'
import { classOf, isHeld, type AccountCode, type BookKey } from '../../packages/domain/ledger/accounts.ts'
import { isEntry, type Entry } from '../../packages/domain/ledger/events.ts'
import { effect } from '../../packages/domain/ledger/postings.ts'
import type { Balances } from '../../packages/domain/ledger/state.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import { daysOf, eventsOf } from './book-history.ts'

type Stores = Pick<Dependencies, 'store' | 'reads'>
type Recorded = RecordedEvent<Entry>

export interface Asked extends Moment {
  readonly book: BookKey
  /** What is explained: one account, or those that are shown as one. */
  readonly accounts: readonly AccountCode[]
  readonly share?: string
}

/**
 * Takes a balance apart: into sums by template and purpose, and the open holds one by one. The sums and what
 * they are compared with come from different columns, as of one moment.
 */
export async function explainBalance(stores: Stores, asked: Asked): Promise<Explanation> {
  const { book, accounts, share, ...moment } = asked
  const { cells, flows } = await daysOf(stores, { book, accounts, ...(share !== undefined && { share }) })
  const plan = planOf(cells, moment)
  const sums = new Sums(accounts)
  const { available, pending, reserved } = sumOfCells(cells, plan)
  let shown: Balances = { available, pending, reserved }
  for (const flow of flows) if (plan.whole.has(flow.cell)) sums.addFlow(flow)
  const through = await readPlanned(stores, { ...asked, plan }, (entry) => {
    shown = sumOf(shown, movementOf(entry))
    sums.addEntry(entry)
  })
  const holds = await openHolds(stores, asked, { amount: shown.reserved, before: through })
  return { shown, sums: sums.all(), holds, through }
}

/** Hands over the entries of a plan; answers the first revision that was not known. */
async function readPlanned(
  stores: Stores,
  { book, asOf, knownAt, plan }: Asked & { readonly plan: Plan },
  handle: (entry: Entry) => void,
): Promise<number> {
  let end = 0
  for (const stretch of plan.read) {
    end = stretch.from
    for await (const event of eventsOf(stores, book, stretch)) {
      if (isEntry(event) && knownAt !== undefined && event.metadata.at > knownAt) return event.revision
      end = event.revision + 1
      if (isEntry(event) && (asOf === undefined || event.data.effectiveAt <= asOf)) handle(event.data)
    }
  }
  return Number.isFinite(plan.end) ? plan.end : end
}

interface Flow {
  readonly account: string
  readonly template: string
  readonly purpose: string
  readonly debits: number | null
  readonly credits: number | null
}

class Sums {
  readonly #accounts: readonly AccountCode[]
  readonly #amounts = new Map<string, { template: string; purpose: string; amount: number }>()

  constructor(accounts: readonly AccountCode[]) {
    this.#accounts = accounts
  }

  addFlow({ account, template, purpose, debits, credits }: Flow): void {
    const raised = Number(debits ?? 0) - Number(credits ?? 0)
    // The read model has rows of accounts only.
    this.#add(template, purpose, classOf(account as AccountCode) === 'asset' ? raised : -raised)
  }

  addEntry({ template, subject, postings }: Entry): void {
    for (const posting of postings) {
      if (this.#accounts.includes(posting.account)) this.#add(template, subject.type, effect(posting))
    }
  }

  all() {
    const found = [...this.#amounts.values()].filter(({ amount }) => amount !== 0)
    return found.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  }

  #add(template: string, purpose: string, amount: number): void {
    const key = keyOf({ template, purpose })
    const known = this.#amounts.get(key)
    if (known) known.amount += amount
    else this.#amounts.set(key, { template, purpose, amount })
  }
}

function keyOf({ template, purpose }: { readonly template: string; readonly purpose: string }): string {
  return `${template} ${purpose}`
}

interface Held {
  /** What stands in the accounts of holds. */
  readonly amount: number
  readonly before: number
}

const eventsPerLook = 1_000
/** Holds mostly end within minutes: beyond this, what is left is named unexplained. */
const eventsLookedAtMax = 200_000

/** Reads back from the end until the open holds come to what is held: older ones there are then none. */
async function openHolds(stores: Stores, asked: Asked, { amount, before }: Held): Promise<ExplainedHolds> {
  const holds = new Map<string, FoundHold>()
  let [open, missing] = [[] as readonly FoundHold[], amount]
  const last = Math.max(0, before - eventsLookedAtMax)
  for (let to = before; to > last && missing !== 0; to -= eventsPerLook) {
    const look = { from: Math.max(last, to - eventsPerLook), to }
    const found = new Map<string, FoundHold>()
    for await (const event of eventsOf(stores, asked.book, look)) noteHold(found, event, asked)
    for (const [id, earlier] of found) holds.set(id, joined(earlier, holds.get(id)))
    open = [...holds.values()].filter((hold) => hold.isPlaced && hold.amount !== 0)
    missing = amount - open.reduce((sum, hold) => sum + hold.amount, 0)
  }
  const oldest = open.toSorted((one, other) => one.entries[0]!.position - other.entries[0]!.position)
  return { open: oldest.map(({ isPlaced: _, ...hold }) => hold), unexplained: missing }
}

type FoundHold = ExplainedHold & { readonly isPlaced: boolean }

function noteHold(holds: Map<string, FoundHold>, event: Recorded, { asOf }: Moment): void {
  if (!isEntry(event) || !('holdId' in event.data)) return
  const { holdId, entryId, subject, template, postings, effectiveAt } = event.data
  if (asOf !== undefined && effectiveAt > asOf) return
  const moved = postings.filter(({ account }) => isHeld(account))
  const amount = moved.reduce((sum, posting) => sum + effect(posting), 0)
  const { position, metadata, type } = event
  const entry: ExplainedEntry = { entryId, template, amount, effectiveAt, recordedAt: metadata.at, position }
  const later = { holdId, subject, amount, entries: [entry], isPlaced: type === 'HoldPlaced' }
  holds.set(holdId, joined(holds.get(holdId), later))
}

/** The earlier and the later part of what is known of a hold. */
function joined(earlier: FoundHold | undefined, later: FoundHold | undefined): FoundHold {
  if (!earlier || !later) return (earlier ?? later)!
  return {
    ...earlier,
    amount: earlier.amount + later.amount,
    entries: [...earlier.entries, ...later.entries],
    isPlaced: earlier.isPlaced || later.isPlaced,
  }
}
