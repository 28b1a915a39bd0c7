import type { ReadModel } from '../../../packages/kernel/projection.ts'
import type { ReadTransaction } from '../client/read-transaction.ts'
import { columnOf, ownerColumnsOf, quoted, type Table } from './tables.ts'

/**
 * How many rows a read model shows, by owner and by the columns its lists filter by. Triggers maintain them,
 * like an index: each statement that changes rows changes their totals too.
 */
export function totalsOf({ name }: Pick<Table, 'name'>): string {
  return `${name}_totals`
}

/** The columns that totals are kept for; `undefined` for a read model without totals. */
export function totalColumns(model: ReadModel): readonly string[] | undefined {
  if (model.kind !== 'documents' || !model.countedBy) return undefined
  return [...Object.keys(ownerColumnsOf(model)), ...model.countedBy]
}

/** The statements that count a table's rows and keep counting. They may be run again. */
export function createTotals(model: ReadModel, table: Table): readonly string[] {
  const columns = totalColumns(model)
  if (!columns) return []
  const totals = totalsOf(table)
  const lines = columns.map((column) => columnOf(table, column))
  const unique = `unique nulls not distinct (${quoted(columns)})`
  return [
    dropTotals(table.name),
    // Free space in each page, so that a total that changes many times a second is updated in place.
    `create table ${totals} (${lines.join(', ')}, rows bigint not null, ${unique}) with (fillfactor = 50)`,
    `insert into ${totals} select ${quoted(columns)}, count(*) from ${table.name}
      where shown group by ${quoted(columns)}`,
    createCounter(table, columns),
    ...changes.map(
      ({ event, referencing }) => `create trigger count_${event} after ${event} on ${table.name}
        referencing ${referencing} for each statement execute function ${counterOf(table)}()`,
    ),
  ]
}

/** Drops a table's totals and their triggers. */
export function dropTotals(table: string): string {
  return `drop function if exists ${counterOf({ name: table })} cascade; drop table if exists ${totalsOf({ name: table })}`
}

/** Owners and values whose total differs from the table, as text; none when all are right. */
export async function wrongTotals(
  moment: ReadTransaction,
  model: ReadModel,
  table: Table,
): Promise<readonly string[]> {
  const columns = totalColumns(model)
  const [found] = await moment.all<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
    totalsOf(table),
  ])
  if (!columns || !found?.exists) return []
  const group = quoted(columns)
  const rows = await moment.all<{ of: string; difference: number }>(`
    select concat_ws(' ', ${group}) as of, sum(kept) as difference
    from (
      select ${group}, rows as kept from ${totalsOf(table)}
      union all select ${group}, -1 from ${table.name} where shown
    ) counted
    group by ${group} having sum(kept) <> 0 limit 100`)
  return rows.map(({ of, difference }) => `the total of ${of} is wrong by ${difference}`)
}

const added = (columns: string) => `select ${columns}, 1 as change from newer where shown`
const removed = (columns: string) => `select ${columns}, -1 as change from older where shown`

const changes = [
  { event: 'insert', referencing: 'new table as newer', rows: added },
  {
    event: 'update',
    referencing: 'old table as older new table as newer',
    rows: (columns: string) => `${added(columns)} union all ${removed(columns)}`,
  },
  { event: 'delete', referencing: 'old table as older', rows: removed },
] as const

function counterOf({ name }: Pick<Table, 'name'>): string {
  return `${name}_count`
}

function createCounter(table: Table, columns: readonly string[]): string {
  const group = quoted(columns)
  const branches = changes.map(
    ({ event, rows }) => `
    if tg_op = '${event.toUpperCase()}' then
      insert into ${totalsOf(table)} as total (${group}, rows)
      select ${group}, sum(change) from (${rows(group)}) changed group by ${group} having sum(change) <> 0
      on conflict (${group}) do update set rows = total.rows + excluded.rows;
    end if;`,
  )
  return `create function ${counterOf(table)}() returns trigger language plpgsql as $count$
    begin ${branches.join('')} return null; end $count$`
}
