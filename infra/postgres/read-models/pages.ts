import type { ReadModel } from '../../../packages/kernel/projection.ts'
import type { Page, PageQuery, Where } from '../../../packages/kernel/read-ports.ts'
import { quoted, tableOf } from './tables.ts'
import { totalColumns, totalsOf } from './totals.ts'

/** The table that stands behind the name of a read model. */
export interface Source {
  readonly model: ReadModel
  readonly table: string
  /** Other code has folded it: its states are not understood here. */
  readonly isOther: boolean
  readonly hasTotals: boolean
}

export function sourceOf(
  model: ReadModel,
  { version, generation }: { readonly version: number; readonly generation: number },
): Omit<Source, 'hasTotals'> {
  const { name: table } = tableOf({ ...model, version }, generation)
  return { model, table, isOther: version !== model.version }
}

export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** What a page's statement answers: the same head in each row, and in one row alone when there is none. */
export type PageRow<Row> = Row & {
  readonly as_of: number | null
  readonly total_rows: number | null
  readonly found: true | null
}

/**
 * One statement, so that rows, total and position are of one moment. It names the table before its totals:
 * so all lock them in one order, those who write, those who audit and those who drop them.
 */
export function pageStatement(source: Source, query: PageQuery): Statement {
  const values: unknown[] = []
  const condition = ({ column, operator, value }: Where) => {
    const place = `$${values.push(value)}`
    return `"${column}" ${operator === 'in' ? `= any(${place})` : `${operator} ${place}`}`
  }
  const counted = query.where.map(condition)
  const where = [...counted, ...(query.bounds ?? []).map(condition)]
  const total = query.count ? totalOf(source, query.where, counted) : 'null::bigint'
  const order = `"${query.order}" ${query.ascending ? 'asc' : 'desc'}`
  const offset = query.offset ? ` offset $${values.push(query.offset)}` : ''
  const text = `
    select *
    from (
      select true as found, ${query.columns ? quoted(query.columns) : '*'} from ${source.table}
      ${matching(where)} order by ${order} limit ${limitOf(query)}${offset}
    ) page
    right join (
      select (select position from checkpoints where name = '${source.table}') as as_of, ${total} as total_rows
    ) head on true
    order by ${order}`
  return { text, values }
}

export function pageOf<Row>(query: PageQuery, rows: readonly PageRow<Row>[]): Page<Row> {
  const { as_of: position, total_rows: total } = rows[0]!
  return {
    rows: rows[0]!.found ? rows.slice(0, query.limit) : [],
    position: position ?? 0,
    ...(query.count && { total: total ?? 0 }),
  }
}

/**
 * PostgreSQL plans a statement once only when it knows the limit, so it is written out. A few sizes keep the
 * statements few; rows beyond the one asked for are left out here.
 */
const sizes = [1, 11, 21, 51, 101]

function limitOf({ limit }: PageQuery): number {
  return sizes.find((size) => size >= limit) ?? limit
}

/** A sum of the totals that are kept, when all that is asked for is among their columns; else a count. */
function totalOf(
  { model, table, hasTotals }: Source,
  where: readonly Where[],
  conditions: readonly string[],
): string {
  const columns = hasTotals ? totalColumns(model) : undefined
  const isShown = ({ column, value }: Where) => column === 'shown' && value === true
  const isKept = ({ column }: Where) => columns?.includes(column)
  if (!where.some(isShown) || !where.every((one) => isShown(one) || isKept(one)))
    return `(select count(*) from ${table} ${matching(conditions)})`
  const kept = conditions.filter((_, index) => !isShown(where[index]!))
  return `(select coalesce(sum(rows), 0) from ${totalsOf({ name: table })} ${matching(kept)})`
}

function matching(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
}
