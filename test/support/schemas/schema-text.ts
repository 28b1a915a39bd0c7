import type pg from 'pg'

const relations = `
  select n.nspname || '.' || c.relname as name, c.relkind as kind, c.oid
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast') and c.relkind in ('r', 'p', 'v', 'm')
  order by 1`
const columns = `
  select format('  %s %s%s%s', attname, format_type(atttypid, atttypmod),
    case when attnotnull then ' not null' else '' end,
    coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')) as line
  from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where attrelid = $1 and attnum > 0 and not attisdropped order by attnum`
const rest = `
  select '  ' || pg_get_constraintdef(oid) as line, 1 as part from pg_constraint where conrelid = $1 and contype <> 'n'
  union all
  select '  ' || regexp_replace(pg_get_indexdef(indexrelid), '^CREATE ', ''), 2 from pg_index where indrelid = $1
  order by 2, 1`

interface Relation {
  readonly name: string
  readonly kind: string
  readonly oid: number
}

/** Every table and view of a database as a text that a review can compare. */
export async function schemaText(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<Relation>(relations)
  const parts: string[] = []
  for (const relation of rows) parts.push(await textOf(pool, relation))
  return `${parts.join('\n\n')}\n`
}

async function textOf(pool: pg.Pool, { name, kind, oid }: Relation): Promise<string> {
  const lines = async (text: string) =>
    (await pool.query<{ line: string }>(text, [oid])).rows.map(({ line }) => line)
  const what = kind === 'v' || kind === 'm' ? 'view' : 'table'
  return [`${what} ${name}`, ...(await lines(columns)), ...(await lines(rest))].join('\n')
}
