import type { OwnerKind } from '../../../packages/kernel/owner.ts'
import type { Columns, Documents, ReadModel } from '../../../packages/kernel/projection.ts'

/** Read models live in a schema of their own: dropping it loses nothing. */
export const readSchema = 'read'

/** Columns that each row of a documents read model has beside the declared ones. */
const documentColumns = (owner: Columns): Columns => ({
  id: 'text',
  ...owner,
  created: 'bigint',
  created_at: 'timestamptz',
  shown: 'boolean',
  revision: 'integer',
  position: 'bigint',
  state: 'json',
})

const ownerColumns: Readonly<Record<OwnerKind, Columns>> = {
  merchant: { merchant: 'text', livemode: 'boolean' },
  organization: { organization: 'text' },
  user: { user: 'text' },
  platform: {},
}

/** The columns that say whose a row is. */
export function ownerColumnsOf({ decider: { owners = ['merchant'] }, name }: Documents<never>): Columns {
  const [owner, other] = owners
  if (!owner || other) throw new Error(`${name} would need columns for owners of several kinds`)
  return ownerColumns[owner]
}

/** What a stream's state and its place in the log are read by, with whose it is. */
export function selectDocument(model: Documents<never>, ...columns: readonly string[]): string {
  const [owner] = model.decider.owners ?? []
  const whose = owner === 'platform' ? 'true as platform' : quoted(Object.keys(ownerColumnsOf(model)))
  return `select ${quoted(columns)}, ${whose}`
}

/** A read model's table: `payouts_v2_1` (version 2, generation 1) behind the view `payouts`. */
export interface Table {
  readonly name: string
  readonly view: string
  readonly columns: Columns
  readonly key: readonly string[]
  readonly fillPercent?: number
}

export function tableOf(model: ReadModel, generation: number): Table {
  const documents = model.kind === 'documents'
  return {
    name: `${readSchema}.${model.name}_v${model.version}_${generation}`,
    view: `${readSchema}.${model.name}`,
    columns: documents ? { ...documentColumns(ownerColumnsOf(model)), ...model.columns } : model.columns,
    key: documents ? ['id'] : model.key,
    ...(documents && model.fillPercent !== undefined && { fillPercent: model.fillPercent }),
  }
}

const collation = ' collate "C"'

/** The statement that creates the table with its primary key, unless it exists. */
export function createTable({ name, columns, key, fillPercent = 100 }: Table): string {
  const lines = Object.keys(columns).map((column) => columnOf({ columns }, column))
  const rows = `${lines.join(', ')}, primary key (${quoted(key)})`
  return `create table if not exists ${name} (${rows}) with (fillfactor = ${fillPercent})`
}

/** The declaration of a column. */
export function columnOf({ columns }: Pick<Table, 'columns'>, column: string): string {
  const type = columns[column]
  return `"${column}" ${type}${type === 'text' ? collation : ''}`
}

/** The statements that create all other indexes. Filling a table first takes half the time. */
export function createIndexes(model: ReadModel, { name }: Table): readonly string[] {
  const owner = model.kind === 'documents' ? Object.keys(ownerColumnsOf(model)) : []
  const indexes =
    model.kind === 'documents' ? [[...owner, 'shown', 'created'], ...model.indexes] : model.indexes
  const growing = model.kind === 'projection' ? (model.monotonic ?? []) : []
  const { searched = [], sparse = [] } = model.kind === 'documents' ? model : {}
  return [
    ...indexes.map((index) => createIndex(name, index, `(${quoted(index)})${present(index, sparse)}`)),
    ...searched.map((column) =>
      createIndex(name, [column], `using gin (${quoted([...owner.slice(0, 1), column])} gin_trgm_ops)`),
    ),
    ...growing.map((column) => createIndex(name, [column], `using brin ("${column}") ${stretches}`)),
  ]
}

/** Leaves rows out of an index where one of its sparse columns is null: no list looks for those. */
function present(index: readonly string[], sparse: readonly string[]): string {
  const conditions = index
    .filter((column) => sparse.includes(column))
    .map((column) => `"${column}" is not null`)
  return conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`
}

/** BRIN ranges of 32 pages, summarised as soon as they are full. */
const stretches = 'with (pages_per_range = 32, autosummarize = on)'

function createIndex(table: string, columns: readonly string[], how: string): string {
  const name = `${table.slice(readSchema.length + 1)}_${columns.join('_')}`.slice(0, 63)
  return `create index if not exists "${name}" on ${table} ${how}`
}

export function quoted(columns: readonly string[]): string {
  return columns.map((column) => `"${column}"`).join(', ')
}

function recordset(table: Table, columns: readonly string[], rows: string): string {
  return `json_to_recordset(${rows}) as t(${columns.map((column) => `"${column}" ${table.columns[column]}`).join(', ')})`
}

function matching({ key }: Table): string {
  return key.map((column) => `r."${column}" = t."${column}"`).join(' and ')
}

/** Statements that take all rows of a batch as one JSON array, for which an expression is given. */
export function upsertRows(table: Table, rows: string): string {
  const columns = Object.keys(table.columns)
  const others = columns.filter((column) => !table.key.includes(column))
  const set = others.map((column) => `"${column}" = excluded."${column}"`).join(', ')
  return `insert into ${table.name} (${quoted(columns)}) select ${quoted(columns)} from ${recordset(table, columns, rows)}
    on conflict (${quoted(table.key)}) do ${set ? `update set ${set}` : 'nothing'}`
}

export function addToRows(table: Table, sums: readonly string[], rows: string): string {
  const columns = [...table.key, ...sums]
  const set = sums
    .map((column) => `"${column}" = coalesce(r."${column}", 0) + excluded."${column}"`)
    .join(', ')
  return `insert into ${table.name} as r (${quoted(columns)}) select ${quoted(columns)} from ${recordset(table, columns, rows)}
    on conflict (${quoted(table.key)}) do update set ${set}`
}

export function patchRows(table: Table, columns: readonly string[], rows: string): string {
  const set = columns.map((column) => `"${column}" = t."${column}"`).join(', ')
  return `update ${table.name} r set ${set} from ${recordset(table, [...table.key, ...columns], rows)} where ${matching(table)}`
}

export function removeRows(table: Table, rows: string): string {
  return `delete from ${table.name} r using ${recordset(table, table.key, rows)} where ${matching(table)}`
}
