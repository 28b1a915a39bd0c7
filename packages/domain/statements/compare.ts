import { isAgreed, type AgreedFees } from './agreed-fees.ts'
import {
  findingKinds,
  type Finding,
  type FindingKind,
  type OwnMovement,
  type StatementLine,
} from './statement.ts'

export interface Comparing {
  readonly lines: readonly StatementLine[]
  /** Ours in the time of the statement and around it. */
  readonly own: readonly OwnMovement[]
  /** Entries that an earlier statement has. */
  readonly settledBefore: ReadonlySet<string>
  /** References that are none of ours: what an operator makes up may look like them. Left out: none is. */
  readonly foreign?: ReadonlySet<string>
  /** The day of a time, where the operator is. */
  readonly dayOf: (time: string) => string
  /** Left out: the operator takes no fees. */
  readonly fees?: AgreedFees | undefined
}

/** What is not known by a reference is the same when its amount is, and its time is as near as this. */
const nearMs = 3_600_000

/**
 * Compares every line with ours, first by reference and then, where the operator gives none, by amount and
 * time. Each line and each of our movements within the time of the statement is in exactly one finding.
 */
export function compare(comparing: Comparing): readonly Finding[] {
  const { lines, own, settledBefore, foreign = new Set() } = comparing
  const open = new OpenMovements(own.filter(({ entryId }) => !settledBefore.has(entryId)))
  const known = new Set(own.map(referenceKey))
  const findings: Finding[] = []
  const unnamed: StatementLine[] = []
  for (const line of lines) {
    const found = open.takeByReference(line)
    if (found) findings.push({ kind: kindOf(line, found, comparing), line, own: found })
    else if (known.has(referenceKey(line))) findings.push({ kind: 'double', line, own: null })
    else if (line.reference === '' || foreign.has(line.reference)) unnamed.push(line)
    else findings.push({ kind: 'only_there', line, own: null })
  }
  const pairs = open.pairByTime(unnamed)
  for (const line of unnamed) {
    const found = pairs.get(line)
    if (found) findings.push({ kind: kindOf(line, found, comparing), line, own: found })
    else findings.push({ kind: 'only_there', line, own: null })
  }
  const left = open.left().filter(({ isWithin }) => isWithin)
  const before = own.filter(({ entryId, isWithin }) => isWithin && settledBefore.has(entryId))
  return [
    ...findings,
    ...left.map((movement) => ({ kind: 'only_here', line: null, own: movement }) as const),
    ...before.map((movement) => ({ kind: 'settled_before', line: null, own: movement }) as const),
  ]
}

function kindOf(line: StatementLine, own: OwnMovement, { dayOf, fees }: Comparing): FindingKind {
  if (line.amount !== own.amount) return 'differs_in_amount'
  if (!isAgreed(line, fees)) return 'differs_in_fee'
  return dayOf(line.at) === dayOf(own.effectiveAt) ? 'matched' : 'differs_in_day'
}

/** Money in and money back bear the same reference. */
function referenceKey({
  reference,
  amount,
}: {
  readonly reference: string
  readonly amount: number
}): string {
  return `${amount < 0 ? '-' : '+'}${reference}`
}

/** Our movements that no line has taken. */
class OpenMovements {
  readonly #byReference = new Map<string, OwnMovement[]>()
  readonly #taken = new Set<OwnMovement>()
  readonly #all: readonly OwnMovement[]

  constructor(all: readonly OwnMovement[]) {
    this.#all = all
    for (const movement of all) push(this.#byReference, referenceKey(movement), movement)
  }

  takeByReference(line: StatementLine): OwnMovement | undefined {
    const found = this.#byReference.get(referenceKey(line))?.shift()
    if (found) this.#taken.add(found)
    return found
  }

  /** As many lines of one amount as can be paired with movements near to them, in the order of time. */
  pairByTime(lines: readonly StatementLine[]): ReadonlyMap<StatementLine, OwnMovement> {
    const pairs = new Map<StatementLine, OwnMovement>()
    const ours = groupByAmount(this.left(), ({ effectiveAt }) => effectiveAt)
    for (const [amount, some] of groupByAmount(lines, ({ at }) => at)) {
      const movements = (ours.get(amount) ?? []).values()
      let next = movements.next()
      for (const { item: line, time } of some) {
        while (!next.done && next.value.time < time - nearMs) next = movements.next()
        if (next.done || next.value.time > time + nearMs) continue
        pairs.set(line, next.value.item)
        this.#taken.add(next.value.item)
        next = movements.next()
      }
    }
    return pairs
  }

  left(): readonly OwnMovement[] {
    return this.#all.filter((movement) => !this.#taken.has(movement))
  }
}

interface Timed<Item> {
  readonly item: Item
  readonly time: number
}

/** Each group in the order of time. */
function groupByAmount<Item extends { readonly amount: number }>(
  items: readonly Item[],
  timeOf: (item: Item) => string,
): ReadonlyMap<number, readonly Timed<Item>[]> {
  const groups = new Map<number, Timed<Item>[]>()
  for (const item of items) push(groups, item.amount, { item, time: Date.parse(timeOf(item)) })
  for (const group of groups.values()) group.sort((one, other) => one.time - other.time)
  return groups
}

function push<Key, Item>(map: Map<Key, Item[]>, key: Key, item: Item): void {
  const known = map.get(key)
  if (known) known.push(item)
  else map.set(key, [item])
}

/** What a finding adds to the drift: what the operator says less what the books say. */
export function driftOf({ line, own }: Finding): number {
  return (line ? line.amount - line.fee : 0) - (own?.isWithin ? own.amount : 0)
}

/** Counts and what each kind explains of the drift. */
export function summaryOf(findings: readonly Finding[]) {
  const counts = Object.fromEntries(findingKinds.map((kind) => [kind, 0])) as Record<FindingKind, number>
  const explained = { ...counts }
  for (const finding of findings) {
    counts[finding.kind]++
    explained[finding.kind] += driftOf(finding)
  }
  return { counts, explained }
}
