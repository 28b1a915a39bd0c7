import type pg from 'pg'
import { laws as lawsOfTheLog } from '../support/load/checker.ts'
import type { HistoryEngine } from './engines.ts'
import { laws, type Law } from './laws.ts'
import type { Asked } from '../support/load/load.ts'
import type { Received } from './sink.ts'
import type { Hook } from './world.ts'

/** During which fault something was done, from its begin to that of the next. */
export interface Stage {
  readonly name: string
  readonly began: Date
}

/** What everybody who took part remembers. */
export interface Evidence {
  /** Event log, read models and deliveries. */
  readonly service: pg.Pool
  /** Left out: the event log is in the service's database. */
  readonly history?: HistoryEngine | undefined
  /** The operators' book. */
  readonly operators: pg.Pool
  readonly asked: readonly Asked[]
  readonly received: readonly Received[]
  readonly hooks: readonly Hook[]
  readonly stages: readonly Stage[]
}

export interface Violation {
  readonly law: string
  readonly kind: Law['kind']
  /** How many things are wrong, by the fault during which they went wrong. */
  readonly stages: Readonly<Record<string, number>>
  /** The first of them. */
  readonly rows: readonly object[]
}

const rowsShown = 3
const unknownStage = 'unknown'

/**
 * Every law that is broken. It shares no code with the service: all that is known is put into one session of
 * the database, and each law is a statement that must find nothing.
 */
export async function violations(evidence: Evidence): Promise<readonly Violation[]> {
  const session = await evidence.service.connect()
  try {
    await lay(session, evidence)
    const all = { ...laws, ...ofTheLog() }
    const found: Violation[] = []
    for (const [law, { kind, query }] of Object.entries(all)) {
      const { rows } = await session.query<{ stage?: string | null }>(query)
      if (rows.length > 0)
        found.push({ law, kind, stages: countByStage(rows), rows: rows.slice(0, rowsShown) })
    }
    return found
  } finally {
    session.release(true)
  }
}

/** Those that say how often something happened are about doing it twice. */
function ofTheLog(): Readonly<Record<string, Law>> {
  const entries = Object.entries(lawsOfTheLog).map(([law, query]): [string, Law] => {
    return [law, { kind: /once|one stream/.test(law) ? 'doubled' : 'broken', query }]
  })
  return Object.fromEntries(entries)
}

function countByStage(rows: readonly { readonly stage?: string | null }[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { stage } of rows) counts[stage ?? unknownStage] = (counts[stage ?? unknownStage] ?? 0) + 1
  return counts
}

/** Tables of this session hide those of the service: the operators' book stands where laws look for it. */
async function lay(session: pg.PoolClient, evidence: Evidence): Promise<void> {
  const { operators, history, asked, received, hooks, stages } = evidence
  const { rows } = await operators.query<{ book: string | null }>(
    'select json_agg(each)::text as book from sandbox_operations each',
  )
  await session.query('create temp table sandbox_operations as table public.sandbox_operations with no data')
  await fill(session, 'sandbox_operations', 'public.sandbox_operations', rows[0]?.book ?? '[]')
  if (history) await layHistory(session, history)
  const tables = {
    asked: [
      'key text, resource text, stage text, path text, tries integer, status integer, answer jsonb',
      asked.map(({ answer, ...one }) => ({ ...one, status: answer?.status, answer: answer?.body })),
    ],
    received: [
      'nth integer, endpoint text, event text, sequence bigint, resource text',
      received.map((one, nth) => ({ ...one, nth })),
    ],
    hooks: ['name text, merchant uuid, pattern text', hooks],
    stages: ['name text, began timestamptz', stages],
  } as const
  for (const [name, [columns, values]] of Object.entries(tables)) {
    await session.query(`create temp table ${name} (${columns})`)
    await fill(session, name, `pg_temp.${name}`, JSON.stringify(values))
  }
  await session.query(derived)
}

async function layHistory(session: pg.PoolClient, history: HistoryEngine): Promise<void> {
  const events = history.events().map(({ data, metadata, ...event }) => {
    const [decodedData, decodedMetadata] = [data, metadata].map((bytes) =>
      JSON.parse(Buffer.from(bytes).toString()),
    )
    return { ...event, data: decodedData, metadata: decodedMetadata }
  })
  await session.query('create temp table events (like public.events including indexes)')
  await fill(session, 'events', 'public.events', JSON.stringify(events))
  await session.query('analyze pg_temp.events')
}

async function fill(session: pg.PoolClient, table: string, type: string, json: string): Promise<void> {
  const text = `insert into pg_temp.${table} select * from json_populate_recordset(null::${type}, $1)`
  await session.query(text, [json])
}

const derived = `
  create temp table endpoints as
    select substr(event.stream, 18)::uuid as id, event.position as created, hooks.*
    from events event join hooks on event.data->>'url' like '%/' || hooks.name
    where event.stream like 'webhook\\_endpoint-%' and event.revision = 0;
  create function pg_temp.stage_at(text) returns text language sql as $$
    select name from pg_temp.stages where began <= $1::timestamptz order by began desc limit 1
  $$;
  create index on pg_temp.received (endpoint, event);
  analyze pg_temp.sandbox_operations;
  analyze pg_temp.received;
  analyze pg_temp.asked;
  analyze pg_temp.endpoints;
  analyze public.public_events;
  analyze public.deliveries`
