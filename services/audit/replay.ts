import { isDeepStrictEqual } from 'node:util'
import type pg from 'pg'
import { inReadTransaction, type ReadTransaction } from '../../infra/postgres/client/read-transaction.ts'
import {
  countRows,
  publishedTables,
  type PublishedTable,
} from '../../infra/postgres/read-models/published-tables.ts'
import { wrongTotals } from '../../infra/postgres/read-models/totals.ts'
import type { AnyDecider } from '../../packages/kernel/decider.ts'
import type { EventStore } from '../../packages/kernel/ports.ts'
import type { ReadModel, Row } from '../../packages/kernel/projection.ts'
import { ExpectedDocuments, ExpectedRows, storedRow, type Expected } from './expected.ts'
import { LogFold, type Fold } from './log-fold.ts'
import { keyOf, sharesOf, type Share } from './share.ts'

export interface Difference {
  readonly model: string
  /** The key of the row; empty when it is about the read model as a whole. */
  readonly row: string
  readonly problem: string
  /** A state that is no fault of the row: parked events and rebuilds have signs of their own. */
  readonly isToldElsewhere?: true
}

export interface Compared {
  readonly name: string
  /** It was compared as of here. */
  readonly position: number
  readonly rows: number
  readonly differences: number
}

export interface Comparison {
  readonly models: readonly Compared[]
  readonly differences: readonly Difference[]
}

export interface ReplayOptions {
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
 * Compares every read model with what the log says it must be. The log is folded up to where the tables
 * stand, then they are looked at in one moment: a running service is neither a difference nor kept waiting.
 * More rows than fit into memory take several passes, each over all events and a part of the rows.
 */
export async function compareReadModels(options: ReplayOptions): Promise<Comparison> {
  const { pool, models, rowsPerPass = rowsPerPassMax } = options
  const start = await inReadTransaction(pool, async (moment) => {
    const tables = await publishedTables(moment, models)
    return { rows: await countRows(moment, tables), end: furthest(tables) }
  })
  const shares = sharesOf(Math.ceil(start.rows / rowsPerPass))
  const findings = new Findings(models)
  for (const [index, share] of shares.entries()) {
    const onRead = (position: number) =>
      options.onProgress(index * start.end + position, shares.length * start.end)
    while (!(await comparePass(options, { share, onRead, findings }))) continue
  }
  return findings.result()
}

interface Pass {
  readonly share: Share
  readonly onRead: (position: number) => void
  readonly findings: Findings
}

/** False when a stream was parked no more meanwhile: what was left out of the fold is in the table by now. */
async function comparePass(
  { pool, store, models, deciders, breathe }: ReplayOptions,
  { share, onRead, findings }: Pass,
): Promise<boolean> {
  const log = new LogFold(store, deciders, onRead)
  const folds = new Map(models.map((model) => [model.name, foldOf(model, share)]))
  const stand = (tables: readonly PublishedTable[]) => {
    for (const { model, position, parked } of tables)
      log.aim(folds.get(model.name)!, { through: position, parked })
  }
  const before = await inReadTransaction(pool, (moment) => publishedTables(moment, models))
  stand(before)
  await log.run([...folds.values()])
  return inReadTransaction(pool, async (moment) => {
    const tables = await publishedTables(moment, models)
    if (!tables.every(({ parked }, index) => includes(parked, before[index]!.parked))) return false
    stand(tables)
    await log.run([...folds.values()])
    for (const shown of tables)
      await compareTable(moment, shown, { fold: folds.get(shown.model.name)!, share, findings, breathe })
    return true
  })
}

function includes(parked: ReadonlyMap<string, number>, earlier: ReadonlyMap<string, number>): boolean {
  return [...earlier].every(([stream, revision]) => parked.get(stream) === revision)
}

interface TableFold extends Fold {
  readonly expected: Expected
}

function foldOf(model: ReadModel, share: Share): TableFold {
  const expected =
    model.kind === 'documents' ? new ExpectedDocuments(model, share) : new ExpectedRows(model, share)
  const category = model.kind === 'documents' ? model.decider.category : undefined
  const follows: Fold['follows'] = (event, ofCategory) =>
    model.kind === 'documents' ? ofCategory === category : event.type in model.on
  return {
    expected,
    follows,
    apply: (event) => expected.apply(event),
    position: 0,
    through: 0,
    parked: new Map(),
    faults: new Map(),
  }
}

interface Comparing {
  readonly fold: TableFold
  readonly share: Share
  readonly findings: Findings
  readonly breathe: ReplayOptions['breathe']
}

const rowsPerBreath = 200

async function compareTable(
  moment: ReadTransaction,
  shown: PublishedTable,
  { fold, share, findings, breathe }: Comparing,
): Promise<void> {
  const { model, version, table, position, parked } = shown
  const note = (row: string, problem: string) => findings.add({ model: model.name, row, problem })
  findings.stand(model.name, position)
  if (version !== model.version) {
    const problem =
      `version ${version} is shown, but this program declares ${model.version}: ` + 'it is to be rebuilt'
    return findings.add({ model: model.name, row: '', problem, isToldElsewhere: true })
  }
  for (const [stream, revision] of parked)
    findings.add({
      model: model.name,
      row: '',
      problem: `${stream} is parked since revision ${revision}: see \`ikw parked list\``,
      isToldElsewhere: true,
    })
  for (const [stream, fault] of fold.faults) note('', `${stream} cannot be folded: ${fault}`)
  for (const problem of await wrongTotals(moment, model, table)) note('', problem)
  for await (const rows of moment.batches<Row>(`select * from ${table.name}`)) {
    for (const [index, actual] of rows.entries()) {
      if (index % rowsPerBreath === 0) await breathe?.()
      const key = keyOf(actual, table.key)
      if (!share.holds(key)) continue
      findings.count(model.name)
      const expected = fold.expected.take(actual)
      if (!expected) note(key, 'stands in the table, but nothing in the log makes it')
      else for (const problem of differences(actual, storedRow(expected, table))) note(key, problem)
    }
  }
  for (const expected of fold.expected.left()) note(keyOf(expected, table.key), 'is missing in the table')
}

function differences(actual: Row, expected: Row): readonly string[] {
  return Object.keys(expected)
    .filter((column) => !isDeepStrictEqual(actual[column] ?? null, expected[column]))
    .map(
      (column) =>
        `${column} is ${JSON.stringify(actual[column])}, but by the log ${JSON.stringify(expected[column])}`,
    )
}

function furthest(tables: readonly PublishedTable[]): number {
  return tables.reduce((most, { position }) => Math.max(most, position), 0)
}

class Findings {
  readonly #found: Difference[] = []
  readonly #models: Map<string, { name: string; position: number; rows: number }>

  constructor(models: readonly ReadModel[]) {
    this.#models = new Map(models.map(({ name }) => [name, { name, position: 0, rows: 0 }]))
  }

  stand(model: string, position: number): void {
    this.#models.get(model)!.position = position
  }

  count(model: string): void {
    this.#models.get(model)!.rows++
  }

  /** What is about a whole read model is found again in each pass, and named once. */
  add(found: Difference): void {
    const isWhole = found.row === ''
    const isKnown =
      isWhole && this.#found.some(({ model, problem }) => model === found.model && problem === found.problem)
    if (!isKnown) this.#found.push(found)
  }

  result(): Comparison {
    const count = (name: string) => this.#found.filter(({ model }) => model === name).length
    return {
      models: [...this.#models.values()].map((model) => ({ ...model, differences: count(model.name) })),
      differences: this.#found,
    }
  }
}
