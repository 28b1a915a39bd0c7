import type pg from 'pg'
import { asMerchant, type Owner } from '../../../packages/kernel/owner.ts'
import type { Erased } from '../../../packages/kernel/personal.ts'
import { redacted } from '../../../packages/kernel/redaction.ts'

/** What is erased of one stream. */
export interface ErasedStream extends Erased {
  readonly stream: string
  /** The stream's id, which every public id of it contains without hyphens. */
  readonly id: string
  /** `payout/<uuid>`: public events are about it. */
  readonly resource: string
}

interface Redacting {
  readonly pool: pg.Pool
  readonly owner: Owner
  readonly streams: readonly ErasedStream[]
}

interface Document {
  /** Names the row. */
  readonly row: string
  readonly content: string
}

/**
 * Takes what is erased out of everything in the database that was made from the log and is not made anew:
 * kept answers, public events, notes about deliveries and failures, the simulated operators' records.
 */
export async function redactCopies(redacting: Redacting): Promise<void> {
  const { pool, streams } = redacting
  await redactAnswers(redacting)
  await redactPublicEvents(redacting)
  await redactOperations(redacting)
  await redactNotes(redacting)
  const names = streams.map(({ stream }) => stream)
  await pool.query(`delete from snapshots where stream = any($1) or stream = any($2)`, [
    names,
    names.map((name) => `relay/${name}`),
  ])
}

async function redactAnswers({ pool, owner, streams }: Redacting): Promise<void> {
  const { merchant, livemode } = asMerchant(owner)
  const { rows } = await pool.query<Document>(
    `select ctid::text as row, body::text as content from answers
     where merchant = $1 and livemode = $2 and body is not null
       and exists (select from unnest($3::text[]) as name where position(name in body::text) > 0)`,
    [merchant, livemode, streams.flatMap(namesOf)],
  )
  const changed = rows.flatMap((row) => changedBy(row, streams))
  await pool.query(
    `update answers set body = changed.content::json
     from unnest($1::text[], $2::text[], $3::text[]) as changed (row, content, before)
     where answers.ctid = changed.row::tid and answers.body::text = changed.before`,
    columnsOf(changed),
  )
}

async function redactPublicEvents({ pool, owner, streams }: Redacting): Promise<void> {
  const { merchant, livemode } = asMerchant(owner)
  const { rows } = await pool.query<Document>(
    `select id as row, payload as content from public_events
     where merchant = $1 and livemode = $2 and resource = any($3)`,
    [merchant, livemode, streams.map(({ resource }) => resource)],
  )
  const changed = rows.flatMap((row) => changedBy(row, streams))
  await pool.query(
    `update public_events set payload = changed.content
     from unnest($1::text[], $2::text[], $3::text[]) as changed (row, content, before)
     where public_events.id = changed.row and payload = changed.before`,
    columnsOf(changed),
  )
}

async function redactOperations({ pool, owner, streams }: Redacting): Promise<void> {
  const { merchant, livemode } = asMerchant(owner)
  const { rows } = await pool.query<Document>(
    `select reference as row, jsonb_build_object('method', method, 'state', state)::text as content
     from sandbox_operations
     where merchant = $1 and livemode = $2
       and exists (select from unnest($3::text[]) as erased where position(erased in method::text) > 0)`,
    [merchant, livemode, [...textsOf(streams)].map(inJson)],
  )
  const all = { texts: [...textsOf(streams)], maps: false }
  const changed = rows.map(({ row, content }) => ({
    row,
    before: content,
    content: redactedText(content, all),
  }))
  await pool.query(
    `update sandbox_operations set method = changed.content::json -> 'method',
       state = changed.content::jsonb -> 'state'
     from unnest($1::text[], $2::text[], $3::text[]) as changed (row, content, before)
     where reference = changed.row and state = changed.before::jsonb -> 'state'`,
    columnsOf(changed),
  )
}

/** What endpoints answered, and why events were parked. */
async function redactNotes({ pool, streams }: Redacting): Promise<void> {
  const texts = [...textsOf(streams)]
  const isAmong = (column: string) =>
    `exists (select from unnest($2::text[]) as erased where position(erased in ${column}) > 0)`
  await pool.query(
    `update deliveries set last_answer = null where resource = any($1) and ${isAmong('last_answer')}`,
    [streams.map(({ resource }) => resource), texts],
  )
  await pool.query(`update parked set error = '[erased]' where stream = any($1) and ${isAmong('error')}`, [
    streams.map(({ stream }) => stream),
    texts,
  ])
}

interface Changed extends Document {
  readonly before: string
}

/** A document is about the streams whose ids it shows. */
function changedBy({ row, content: before }: Document, streams: readonly ErasedStream[]): readonly Changed[] {
  const shown = streams.filter((stream) => namesOf(stream).some((name) => before.includes(name)))
  const content = redactedText(before, {
    texts: [...textsOf(shown)],
    maps: shown.some(({ maps }) => maps),
  })
  return content === before ? [] : [{ row, content, before }]
}

function redactedText(content: string, erased: Erased): string {
  return JSON.stringify(redacted(JSON.parse(content), erased))
}

function columnsOf(changed: readonly Changed[]) {
  return [
    changed.map(({ row }) => row),
    changed.map(({ content }) => content),
    changed.map(({ before }) => before),
  ]
}

function namesOf({ id }: ErasedStream): readonly string[] {
  return [id, id.replaceAll('-', '')]
}

function textsOf(streams: readonly ErasedStream[]): ReadonlySet<string> {
  return new Set(streams.flatMap(({ texts }) => texts))
}

export interface TableMatches {
  readonly table: string
  readonly rows: number
}

/** What to search for. */
export interface Sought {
  /** Numbers and addresses that are the person's alone: in any row of the owner. */
  readonly contacts: readonly string[]
  readonly owner: Owner
  /** Names and words that others may use too: in rows about these ids. */
  readonly texts: readonly string[]
  readonly ids: readonly string[]
  /** Read models that show what others call their own, even if it is the same. */
  readonly except: readonly string[]
}

const undefinedTable = '42P01'

/** Every table in which something stands that was erased; sought anew where a rebuild takes one away. */
export async function placesOf(pool: pg.Pool, sought: Sought): Promise<readonly TableMatches[]> {
  try {
    return await search(pool, sought)
  } catch (error) {
    if ((error as { readonly code?: string }).code !== undefinedTable) throw error
    return placesOf(pool, sought)
  }
}

async function search(pool: pg.Pool, sought: Sought): Promise<readonly TableMatches[]> {
  const { contacts, owner, texts, ids, except } = sought
  const { rows: tables } = await pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')
       and not (schemaname = 'read' and regexp_replace(tablename, '_v[0-9]+_[0-9]+$', '') = any($1))
     order by 1`,
    [except],
  )
  const values = [withJson(contacts), asMerchant(owner).merchant, withJson(texts), ids]
  const found: TableMatches[] = []
  for (const { name } of tables) {
    const { rows } = await pool.query<{ rows: number }>(
      `select count(*)::integer as rows from (select t::text as row from ${name} t) as searched
       where (${containsOneOf('$1')} and position($2 in row) > 0)
         or (${containsOneOf('$3')} and ${containsOneOf('$4')})`,
      values,
    )
    if (rows[0]!.rows > 0) found.push({ table: name, rows: rows[0]!.rows })
  }
  return found
}

function containsOneOf(parameter: string): string {
  return `exists (select from unnest(${parameter}::text[]) as one where position(one in row) > 0)`
}

function withJson(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.flatMap((text) => [text, inJson(text)]))]
}

/** As a text stands in a JSON document. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
