import type { ReadModel } from '../../../packages/kernel/projection.ts'
import type { Page, PageQuery, Where } from '../../../packages/kernel/ports/reads.ts'
import { quoted, tableOf } from './tables.ts'
import { totalColumns, totalsOf } from './totals.ts'

/** The table behind a read model's name. */
export interface Source {
  readonly model: ReadModel
  readonly table: string
  /** It was folded by other code: its states are not understood here. */
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

/**
 * The result of a page's statement: every row repeats the same head; without rows there is one with only the
 * head.
 */
export type PageRow<Row> = Row & {
  readonly as_of: number | null
  readonly total_rows: number | null
  readonly found: true | null
}

/**
 * A single statement, so that rows, total and position are of one moment. It names the table before its
 * totals, and so locks them in the same order as everybody else.
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
 * PostgreSQL reuses a plan only when the limit is a literal. A few sizes keep the number of statements small;
 * rows beyond the requested limit are dropped here.
 */
const sizes = [1, 11, 21, 51, 101]

function limitOf({ limit }: PageQuery): number {
  return sizes.find((size) => size >= limit) ?? limit
}

/** The sum of kept totals when the query filters by their columns only; otherwise a count. */
function totalOf(
  { model, table, hasTotals }: Source,
  where: readonly Where[],
  conditions: readonly string[],
): string {
  const columns = hasTotals ? totalColumns(model) : undefined
  const isShown = ({ column, value }: Where) => column === 'shown' && value === true
  const isKept = ({ column }: Where) => columns!.includes(column)
  if (!columns || !where.some(isShown) || !where.every((one) => isShown(one) || isKept(one)))
    return `(select count(*) from ${table} ${matching(conditions)})`
  const kept = conditions.filter((_, index) => !isShown(where[index]!))
  return `(select coalesce(sum(rows), 0) from ${totalsOf({ name: table })} ${matching(kept)})`
}

function matching(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
}
