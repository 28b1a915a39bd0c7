import type { Balances } from '../ledger/state.ts'
import { nothing, sumOf } from './movement.ts'

/** Revisions are summed in two parts, so that each sum stays exact. */
const blockSize = 2 ** 20

/** What a revision adds to its day's sums. */
export function revisionParts(revision: number) {
  return { revision_blocks: Math.floor(revision / blockSize), revision_rests: revision % blockSize }
}

/** The part of the read model `balance_days` that an entry falls into: `<day written> <day it counts>`. */
export function cellOf(recordedAt: string, effectiveAt: string): string {
  return `${recordedAt.slice(0, dayLength)} ${effectiveAt.slice(0, dayLength)}`
}

const dayLength = 10

/** What the events of a book that were written on one day and count on another come to. */
export interface Cell extends Balances, Readonly<ReturnType<typeof revisionParts>> {
  readonly cell: string
  /** Events, whether they are entries or not. */
  readonly entries: number
}

/** A row of the read model: the part of a cell that one template made for one purpose. */
export interface CellPart extends Cell {
  readonly template: string
  readonly purpose: string
}

/** The cells of a book, each the sum of its parts, in the order of their names. */
export function cellsOf(parts: readonly CellPart[]): readonly Cell[] {
  const cells = new Map<string, Cell>()
  for (const part of parts) {
    const known = cells.get(part.cell)
    cells.set(part.cell, known ? joined(known, part) : part)
  }
  return [...cells.values()].sort((one, other) => (one.cell < other.cell ? -1 : 1))
}

function joined(one: Cell, other: Cell): Cell {
  return {
    ...sumOf(one, other),
    cell: one.cell,
    entries: one.entries + other.entries,
    revision_blocks: one.revision_blocks + other.revision_blocks,
    revision_rests: one.revision_rests + other.revision_rests,
  }
}

/** RFC 3339 with milliseconds, in UTC. */
export interface Moment {
  /** What counts later does not count. Left out: all counts. */
  readonly asOf?: string | undefined
  /**
   * What was not known by then does not count: what was written later, and all that stands behind it in the
   * book, whatever its clock said. So what was known at a time that is over never changes.
   */
  readonly knownAt?: string | undefined
}

/** Events of a book from one revision to before another. */
export interface RevisionRange {
  readonly from: number
  readonly to: number
}

export interface Plan {
  /** Cells of which all counts. */
  readonly whole: ReadonlySet<string>
  /** What must be looked at event by event, in order. */
  readonly read: readonly RevisionRange[]
  /** What was known lies before this revision, as far as whole days tell. */
  readonly end: number
}

/**
 * How the events up to some moment are counted with few of them read. Clocks of two processes differ, so days
 * are told apart only where those written by then are the book's first ones without a gap: nothing else has
 * so small a sum of revisions. `cells` are those of the whole book in the order of their names.
 */
export function planOf(cells: readonly Cell[], { asOf, knownAt }: Moment): Plan {
  const [asOfDay, knownDay] = [asOf?.slice(0, dayLength), knownAt?.slice(0, dayLength)]
  const whole = new Set<string>()
  const read: RevisionRange[] = []
  for (const { from, to, cells: run } of runsOf(cells)) {
    const [first, last] = [recordedDay(run[0]!), recordedDay(run.at(-1)!)]
    if (knownDay !== undefined && first > knownDay) return { whole, read, end: from }
    const isCut = knownDay !== undefined && last >= knownDay
    if (isCut || run.some((cell) => effectiveDay(cell) === asOfDay)) read.push({ from, to })
    else for (const cell of run) if (!asOfDay || effectiveDay(cell) < asOfDay) whole.add(cell.cell)
    if (isCut && last > knownDay) return { whole, read, end: to }
  }
  const total = cells.reduce((sum, { entries }) => sum + entries, 0)
  const rest = { from: total, to: Number.POSITIVE_INFINITY }
  return { whole, read: [...read, rest], end: Number.POSITIVE_INFINITY }
}

interface Run extends RevisionRange {
  readonly cells: readonly Cell[]
}

/** Days that lie in the book one after the other, each as short as clocks allow. */
function runsOf(cells: readonly Cell[]): readonly Run[] {
  const runs: Run[] = []
  let run: Cell[] = []
  let [from, to, revisions] = [0, 0, 0n]
  for (const [index, cell] of cells.entries()) {
    run.push(cell)
    to += cell.entries
    revisions += BigInt(cell.revision_blocks) * BigInt(blockSize) + BigInt(cell.revision_rests)
    const next = cells[index + 1]
    const endsDay = !next || recordedDay(next) !== recordedDay(cell)
    if (!endsDay || (next && revisions !== firstRevisions(to))) continue
    runs.push({ from, to, cells: run })
    run = []
    from = to
  }
  return runs
}

function recordedDay({ cell }: Cell): string {
  return cell.slice(0, dayLength)
}

function effectiveDay({ cell }: Cell): string {
  return cell.slice(dayLength + 1)
}

/** The sum of the first revisions, this many of them. */
function firstRevisions(entries: number): bigint {
  return (BigInt(entries) * BigInt(entries - 1)) / 2n
}

/** What the cells that count as a whole come to. */
export function sumOfCells(cells: readonly Cell[], { whole }: Plan): Balances & { readonly entries: number } {
  const counted = cells.filter(({ cell }) => whole.has(cell))
  const entries = counted.reduce((sum, cell) => sum + cell.entries, 0)
  return { ...counted.reduce<Balances>(sumOf, nothing), entries }
}
