import type pg from 'pg'
import { readModels } from '../../projections/index.ts'
import { payouts as payoutDocuments } from '../../projections/payouts.ts'
import { tableOf } from '../../infra/postgres/read-models/tables.ts'
import { seededIdSql } from './load/identities.ts'
import type { Range, Seed } from './seed-options.ts'
import { isPersonal, personalCopies } from './personal-copies.ts'
import type { PayoutTemplate } from './load/template.ts'

const idOf = seededIdSql('payout.number')

/** The template's text, with the ids of payout `payout.number` and merchant `merchant.id` put in. */
function filled(column: string, { id, merchant }: PayoutTemplate): string {
  return `replace(replace(${column}, '${id}', ${idOf}), '${merchant}', merchant.id)`
}

const payoutsAndMerchants = `
  generate_series($1::bigint, $2::bigint - 1) as payout (number)
  join unnest($3::text[]) with ordinality as merchant (id, number)
    on merchant.number - 1 = payout.number % cardinality($3::text[])`

/**
 * Appends the events of many payouts to the log, as the deciders made them for the template. Payout n belongs
 * to merchant n modulo their number; each book holds only its grant beforehand.
 */
export async function seedEvents(seed: Seed, template: PayoutTemplate): Promise<void> {
  const { pool, payouts } = seed
  await writeTemplate(pool, template)
  const head = await headOf(pool)
  const middle = Math.floor(payouts / 2)
  await withoutIndexes(pool, async () => {
    await Promise.all([
      insertEvents(seed, template, { head, from: 0, to: middle }),
      insertEvents(seed, template, { head, from: middle, to: payouts }),
    ])
  })
}

/** Makes the log this long, with events in separate streams that nobody reads. */
export async function lengthenLog(pool: pg.Pool, events: number): Promise<void> {
  const head = await headOf(pool)
  const middle = Math.floor((head + events) / 2)
  const insert = `
    insert into events (position, stream, revision, id, type, data, metadata)
    select number, 'payout-' || ${seededIdSql('(number / 5 + 2 ^ 40)::bigint')}, number % 5, gen_random_uuid(),
      'PayoutSent', '{}', '{}'
    from generate_series($1::bigint, $2::bigint) as number`
  await withoutIndexes(pool, async () => {
    await Promise.all([pool.query(insert, [head + 1, middle]), pool.query(insert, [middle + 1, events])])
  })
}

async function headOf(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ head: number }>('select max(position) as head from events')
  return rows[0]!.head
}

/**
 * Filling a table first and indexing it afterwards takes half the time, and two connections share the work.
 */
async function withoutIndexes(pool: pg.Pool, fill: () => Promise<void>): Promise<void> {
  await pool.query('alter table events drop constraint events_pkey, drop constraint events_stream_revision')
  await fill()
  await pool.query(`set maintenance_work_mem = '1GB'; alter table events
    add primary key (position), add constraint events_stream_revision unique (stream, revision)`)
  await pool.query('vacuum analyze events')
  await pool.query('checkpoint')
}

async function insertEvents(seed: Seed, template: PayoutTemplate, range: Range): Promise<void> {
  const { pool, merchants } = seed
  const { head, from, to } = range
  const common = [head, merchants.map(({ id }) => id)]
  const others = insertStatement(template, {
    payouts: 'generate_series($3::bigint, $4::bigint - 1) as payout (number)',
    step: 'not template.is_personal',
    id: 'gen_random_uuid()',
    data: `replace(${filled('template.data', template)}, template.entry,
      md5(template.entry || payout.number)::uuid::text)`,
    metadata: filled('template.metadata', template),
  })
  await pool.query(others, [...common, from, to])
  const personal = insertStatement(template, {
    payouts: `unnest($3::bigint[], $4::integer[], $5::uuid[], $6::text[], $7::text[])
      as payout (number, step, id, data, metadata)`,
    step: 'template.step = payout.step',
    id: 'payout.id',
    data: 'payout.data',
    metadata: 'payout.metadata',
  })
  for await (const columns of personalCopies(seed, template, range))
    await pool.query(personal, [...common, ...columns])
}

/** Sources of a copy's values, as SQL. */
interface Copies {
  readonly payouts: string
  readonly step: string
  readonly id: string
  readonly data: string
  readonly metadata: string
}

/** $1 is the head of the log before, $2 are the merchants. */
function insertStatement(template: PayoutTemplate, { payouts, step, id, data, metadata }: Copies): string {
  return `
    insert into events (position, stream, revision, id, type, data, metadata)
    select
      $1::bigint + payout.number * template.size + template.step,
      ${filled('template.stream', template)},
      case when template.stream like 'ledger-%'
        then 1 + payout.number / cardinality($2::text[]) * template.ledger_size + template.nth
        else template.nth end,
      ${id}, template.type, (${data})::json, (${metadata})::json
    from ${payouts}
    join unnest($2::text[]) with ordinality as merchant (id, number)
      on merchant.number - 1 = payout.number % cardinality($2::text[])
    join bench_template template on ${step}`
}

async function writeTemplate(pool: pg.Pool, { events }: PayoutTemplate): Promise<void> {
  await pool.query('drop table if exists bench_template')
  await pool.query(`create table bench_template (
    step integer, size integer, nth integer, ledger_size integer,
    stream text, type text, entry text, data text, metadata text, is_personal boolean)`)
  const isLedger = ({ stream }: { readonly stream: string }) => stream.startsWith('ledger-')
  const ledgerSize = events.filter(isLedger).length
  for (const [index, event] of events.entries()) {
    const { id, stream, type, data, metadata } = event
    const nth = events.slice(0, index).filter((one) => one.stream === stream).length
    const numbers = [index + 1, events.length, nth, ledgerSize]
    const entry = 'entryId' in data ? String(data.entryId) : id
    const values = [...numbers, stream, type, entry, JSON.stringify(data), JSON.stringify(metadata)]
    await pool.query('insert into bench_template values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)', [
      ...values,
      isPersonal(event),
    ])
  }
}

/** Fills the read model of payouts, alternating between their outcomes. */
export async function seedPayoutRows(
  { pool, merchants, payouts }: Seed,
  ends: readonly PayoutTemplate[],
): Promise<void> {
  const table = tableOf(payoutDocuments, 1).name
  for (const [index, end] of ends.entries()) {
    if (end.state.status === 'none' || end.state.status === 'abandoned')
      throw new Error('a template shows nothing')
    const { status, money, at } = end.state
    const ids = merchants.map(({ id }) => id)
    const columns = [JSON.stringify(end.state), status, money.currency, money.amount, at]
    await pool.query(
      `
      insert into ${table} (
        id, merchant, livemode, created, created_at, shown, revision, position, state, status, currency, amount)
      select ${idOf}, merchant.id, false, payout.number + 1, $8::timestamptz, true, ${lastRevision(end)},
        payout.number + 1, ${filled('$4::text', end)}::json, $5, $6, $7
      from ${payoutsAndMerchants}
      where payout.number % ${ends.length} = ${index}`,
      [0, payouts, ids, ...columns],
    )
  }
  await pool.query(`vacuum analyze ${table}`)
}

function lastRevision({ events }: PayoutTemplate): number {
  return events.filter(({ stream }) => stream.startsWith('payout-')).length - 1
}

/** Marks everything in the log as done for all consumers. */
export async function skipToHead(pool: pg.Pool): Promise<void> {
  const consumers = ['policies', 'reactions', 'relay', ...readModels.map((model) => tableOf(model, 1).name)]
  await pool.query(
    `
    insert into checkpoints (name, position, attempted)
    select name, log.head, log.head from unnest($1::text[]) as name, (select max(position) as head from events) log
    on conflict (name) do update set position = excluded.position, attempted = excluded.attempted`,
    [consumers],
  )
}
