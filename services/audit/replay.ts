import { setImmediate as nextTurn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type pg from 'pg'
import { SealedParts, type PartsOptions } from '../../infra/history/sealed-parts.ts'
import { keysErasedSince, timeOfErasures } from '../../infra/postgres/privacy/erasures.ts'
import { inReadTransaction } from '../../infra/postgres/client/read-transaction.ts'
import {
  countRows,
  publishedTables,
  type PublishedTable,
} from '../../infra/postgres/read-models/published-tables.ts'
import { wrongTotals } from '../../infra/postgres/read-models/totals.ts'
import { categoryOf, type AnyDecider } from '../../packages/kernel/decider.ts'
import { recordedEvent } from '../../packages/kernel/history.ts'
import { DamagedStreamError, type EventStore, type StoredEvent } from '../../packages/kernel/ports.ts'
import type { ReadModel, RecordedEvent, Row } from '../../packages/kernel/projection.ts'
import { ExpectedDocuments, ExpectedRows, isFollowed, keysOf, storedRow, type Expected } from './expected.ts'
import { Differences, type Comparison } from './differences.ts'
import { LogFold, type Fold } from './log-fold.ts'
import { keyOf, shareOf, sharesOf, type Share } from './share.ts'

/** `directory` and what is free of it: where parts are kept that do not fit into memory. */
export interface ReplayOptions extends PartsOptions {
  readonly pool: pg.Pool
  readonly store: Pick<EventStore, 'readOn'>
  readonly models: readonly ReadModel[]
  readonly deciders: readonly AnyDecider[]
  readonly rowsPerPass?: number
  readonly onProgress: (done: number, of: number) => void
  /** Awaited after every few rows, for who has other work. May throw to end it. */
  readonly breathe?: () => Promise<void>
}

/** Rows that are held in memory at once, states of streams among them. */
const rowsPerPassMax = 500_000

/**
 * Compares every read model with what the log says it must be. Each table is copied in one moment, and the
 * log is folded up to where it stood then, so a running service is neither a difference nor kept waiting.
 * What does not fit into memory is parted, rows and events, and each is read once.
 */
export async function compareOnce(options: ReplayOptions): Promise<Comparison> {
  const { pool, models, rowsPerPass = rowsPerPassMax } = options
  const since = await timeOfErasures(pool)
  const count = await inReadTransaction(pool, async (moment) => {
    const rows = await countRows(moment, await publishedTables(moment, models))
    return Math.max(1, Math.ceil(rows / rowsPerPass))
  })
  const parts = {
    rows: await SealedParts.open<CopiedRow>(options),
    events: await SealedParts.open<PartedEvent>(options),
  }
  try {
    const findings = new Differences(models)
    const copied: CopiedTable[] = []
    for (const model of models) copied.push(await copyTable(options, { model, count, rows: parts.rows }))
    const end = copied.reduce((most, { shown }) => Math.max(most, shown.position), 0)
    const onRead = (position: number) => options.onProgress(position, end)
    const { store } = options
    if (count > 1) await partEvents({ ...options, onRead }, { count, end, events: parts.events })
    for (const [index, share] of sharesOf(count).entries()) {
      const read = count > 1 ? { readOn: () => eventsOf(parts.events.read(index), options) } : store
      await compareShare(
        { ...options, store: read, onRead },
        { index, share, copied, since, rows: parts.rows, findings },
      )
      await Promise.all([parts.rows.drop(index), parts.events.drop(index)])
    }
    return findings.result()
  } finally {
    await Promise.all([parts.rows.close(), parts.events.close()])
  }
}

/** A table as of one moment. */
interface CopiedTable {
  readonly shown: PublishedTable
  readonly problems: readonly string[]
}

interface CopiedRow {
  readonly model: string
  readonly row: Row
}

const rowsPerTurn = 200

/** At full speed, because a transaction is open; others have the event loop between a few rows. */
function copyTable(
  { pool }: ReplayOptions,
  { model, count, rows }: { model: ReadModel; count: number; rows: SealedParts<CopiedRow> },
): Promise<CopiedTable> {
  return inReadTransaction(pool, async (moment) => {
    const [shown] = await publishedTables(moment, [model])
    const { table, version } = shown!
    // Other code has folded it, so nothing is said about its rows.
    if (version !== model.version) return { shown: shown!, problems: [] }
    const problems = await wrongTotals(moment, model, table)
    for await (const page of moment.batches<Row>(`select * from ${table.name}`))
      for (const [index, row] of page.entries()) {
        if (index % rowsPerTurn === 0) await nextTurn()
        await rows.add(shareOf(keyOf(row, table.key), count), { model: model.name, row })
      }
    return { shown: shown!, problems }
  })
}

/** Each event goes to the parts whose rows it changes. One that cannot be read is a fault of all of them. */
async function partEvents(
  { store, models, deciders, onRead }: ReplayOptions & { readonly onRead: (position: number) => void },
  { count, end, events }: { count: number; end: number; events: SealedParts<PartedEvent> },
): Promise<void> {
  const known = new Map(deciders.map((decider) => [decider.category, decider]))
  const all = Array.from({ length: count }, (_, index) => index)
  const partsOf = (event: StoredEvent) => {
    const category = categoryOf(event.stream)
    const following = models.filter((model) => isFollowed(model, event, category))
    if (following.length === 0) return []
    try {
      const recorded = recordedEvent(known.get(category)!, event)
      const keys = following.flatMap((model) => keysOf(model, recorded))
      return new Set(keys.map((key) => shareOf(key, count)))
    } catch {
      return all
    }
  }
  for await (const page of store.readOn(0)) {
    for (const event of page)
      if (event.position <= end) for (const part of partsOf(event)) await events.add(part, parted(event))
    onRead(page.at(-1)!.position)
    if (page.at(-1)!.position >= end) return
  }
}

/** An error is no JSON. */
type PartedEvent = Omit<StoredEvent, 'damage'> & { readonly problem?: string }

function parted({ damage, ...event }: StoredEvent): PartedEvent {
  return damage ? { ...event, problem: damage.message.slice(event.stream.length + 1) } : event
}

async function* eventsOf(
  pages: AsyncIterable<readonly PartedEvent[]>,
  { breathe }: ReplayOptions,
): AsyncGenerator<readonly StoredEvent[], void> {
  for await (const page of pages) {
    yield page.map(({ problem, ...event }) =>
      problem === undefined
        ? event
        : { ...event, damage: new DamagedStreamError({ stream: event.stream, problem }) },
    )
    await breathe?.()
  }
}

interface TableFold extends Fold {
  readonly expected: Expected
  /** Rows that say less since a key was destroyed, with its name. */
  readonly erasedRows: Map<string, Set<string>>
}

function foldOf({ shown: { model, position, parked } }: CopiedTable, share: Share): TableFold {
  const expected =
    model.kind === 'documents' ? new ExpectedDocuments(model, share) : new ExpectedRows(model, share)
  const erasedRows: TableFold['erasedRows'] = new Map()
  const erased = (event: RecordedEvent, destroyed: string) => {
    for (const key of keysOf(model, event).filter((one) => share.holds(one)))
      erasedRows.set(key, (erasedRows.get(key) ?? new Set()).add(destroyed))
  }
  return {
    expected,
    erasedRows,
    erased,
    follows: (event, category) => isFollowed(model, event, category),
    apply: (event) => expected.apply(event),
    position: 0,
    through: position,
    parked,
    faults: new Map(),
  }
}

interface Comparing {
  readonly index: number
  readonly share: Share
  readonly copied: readonly CopiedTable[]
  /** When the tables were copied, by the database's clock. */
  readonly since: string
  readonly rows: SealedParts<CopiedRow>
  readonly findings: Differences
}

async function compareShare(
  { pool, store, deciders, breathe, onRead }: ReplayOptions & { readonly onRead: (position: number) => void },
  { index, share, copied, since, rows, findings }: Comparing,
): Promise<void> {
  const folds = new Map(copied.map((one) => [one.shown.model.name, { ...one, fold: foldOf(one, share) }]))
  await new LogFold(store, deciders, onRead).run([...folds.values()].map(({ fold }) => fold))
  await keepErasedMeanwhile(pool, since, folds.values())
  for (const { shown, problems, fold } of folds.values()) tellOfTable(shown, { problems, fold, findings })
  for await (const page of rows.read(index)) {
    for (const { model, row } of page) compareRow(row, { ...folds.get(model)!, findings })
    await breathe?.()
  }
  for (const { shown, fold } of folds.values())
    if (shown.version === shown.model.version)
      for (const expected of fold.expected.left())
        findings.add({
          model: shown.model.name,
          row: keyOf(expected, shown.table.key),
          problem: 'is missing in the table',
        })
}

/** What was erased before the tables were copied is in them as it is in the log. */
async function keepErasedMeanwhile(
  pool: pg.Pool,
  since: string,
  tables: Iterable<{ readonly fold: TableFold }>,
): Promise<void> {
  const all = [...tables].map(({ fold }) => fold.erasedRows)
  if (all.every(({ size }) => size === 0)) return
  const keys = await keysErasedSince(pool, since)
  for (const rows of all)
    for (const [row, destroyed] of rows) if (![...destroyed].some((key) => keys.has(key))) rows.delete(row)
}

function tellOfTable(
  { model, version, position, parked }: PublishedTable,
  { problems, fold, findings }: { problems: readonly string[]; fold: TableFold; findings: Differences },
): void {
  const whole = { model: model.name, row: '' }
  findings.stand(model.name, position)
  if (version !== model.version) {
    const problem = `version ${version} is shown, but this program declares ${model.version}: it is to be rebuilt`
    return findings.add({ ...whole, problem, isToldElsewhere: true })
  }
  for (const [stream, revision] of parked) {
    const problem = `${stream} is parked since revision ${revision}: see \`ikw parked list\``
    findings.add({ ...whole, problem, isToldElsewhere: true })
  }
  for (const [stream, fault] of fold.faults)
    findings.add({ ...whole, problem: `${stream} cannot be folded: ${fault}` })
  for (const problem of problems) findings.add({ ...whole, problem })
}

function compareRow(
  actual: Row,
  {
    shown: { model, table },
    fold,
    findings,
  }: { shown: PublishedTable; fold: TableFold; findings: Differences },
): void {
  const found = { model: model.name, row: keyOf(actual, table.key) }
  findings.count(model.name)
  const expected = fold.expected.take(actual)
  if (!expected)
    return findings.add({ ...found, problem: 'stands in the table, but nothing in the log makes it' })
  const differing = differences(actual, storedRow(expected, table))
  if (differing.length > 0 && fold.erasedRows.has(found.row)) return findings.leave(model.name)
  for (const { column, problem } of differing) findings.add({ ...found, problem, column })
}

function differences(actual: Row, expected: Row): readonly { column: string; problem: string }[] {
  return Object.keys(expected)
    .filter((column) => !isDeepStrictEqual(actual[column] ?? null, expected[column]))
    .map((column) => {
      const [shown, logged] = [actual[column], expected[column]].map((value) => JSON.stringify(value))
      return { column, problem: `${column} is ${shown}, but by the log ${logged}` }
    })
}
