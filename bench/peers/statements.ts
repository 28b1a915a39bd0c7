import { createHash } from 'node:crypto'
import type pg from 'pg'
import { seededIdSql } from '../support/load/identities.ts'
import type { BenchMerchant } from '../support/merchants.ts'

/** The tables of the plain service, with the indexes its queries need. */
export async function createPeerTables(pool: pg.Pool): Promise<void> {
  await pool.query(`
    create table api_keys (hash text primary key, merchant uuid not null);
    create table balances (
      merchant uuid, currency text, available bigint not null, reserved bigint not null default 0,
      primary key (merchant, currency));
    create table idempotency_keys (merchant uuid, key text, resource uuid not null, primary key (merchant, key));
    create table ledger_entries (
      id bigint generated always as identity primary key, merchant uuid not null, subject uuid not null,
      account text not null, amount bigint not null, created_at timestamptz not null default now());
    create index on ledger_entries (subject);
    create table webhook_events (
      id bigint generated always as identity primary key, merchant uuid not null, type text not null,
      payload jsonb not null, created_at timestamptz not null default now(), delivered_at timestamptz);
    create table payouts (
      id uuid primary key, merchant uuid not null, number bigint generated always as identity,
      status text not null, amount bigint not null, fee bigint not null, currency text not null,
      destination jsonb not null, metadata jsonb not null, created_at timestamptz not null default now());
    create index on payouts (merchant, status, number desc);
    create table payment_intents (
      id uuid primary key, merchant uuid not null, status text not null, amount bigint not null,
      currency text not null, country text not null, method jsonb, metadata jsonb not null,
      created_at timestamptz not null default now(), updated_at timestamptz not null default now());
    create index on payment_intents (merchant, created_at);
    create table operations (
      id uuid primary key default gen_random_uuid(), resource uuid not null, type text not null,
      status text not null, created_at timestamptz not null default now())`)
}

export async function seedPeer(
  pool: pg.Pool,
  merchants: readonly BenchMerchant[],
  payouts: number,
): Promise<void> {
  const hashes = merchants.map(({ key }) => createHash('sha256').update(key).digest('hex'))
  const ids = merchants.map(({ id }) => id)
  await pool.query('insert into api_keys select * from unnest($1::text[], $2::uuid[])', [hashes, ids])
  await pool.query(`insert into balances select id, 'XOF', 1000000000000 from unnest($1::uuid[]) as id`, [
    ids,
  ])
  await pool.query(
    `
    insert into payouts (id, merchant, status, amount, fee, currency, destination, metadata)
    select (${seededIdSql('payout.number')})::uuid, ($2::uuid[])[1 + payout.number % cardinality($2::uuid[])],
      (array['pending', 'in_transit', 'paid', 'failed', 'canceled'])[1 + payout.number % 5], 5000, 50, 'XOF',
      '{"type":"mobile_money","country":"SN","operator":"wave","msisdn":"+221775550123"}',
      '{"order":"order-5550123","note":"supplier invoice"}'
    from generate_series(0, $1::bigint - 1) as payout (number)`,
    [payouts, ids],
  )
  await pool.query('vacuum analyze')
}

interface Asked {
  readonly merchant: string
  readonly id: string
  readonly key: string | undefined
  readonly body: Record<string, never>
}

type Connection = Pick<pg.PoolClient, 'query'>

/** Each statement is prepared once per connection. */
async function run<Row extends pg.QueryResultRow>(
  connection: Connection,
  name: string,
  [text, values]: [string, unknown[]],
) {
  return (await connection.query<Row>({ name, text, values })).rows
}

async function remember(connection: Connection, { merchant, key, id }: Asked): Promise<boolean> {
  if (key === undefined) return true
  const text = 'insert into idempotency_keys values ($1, $2, $3) on conflict do nothing returning key'
  return (await run(connection, 'remember', [text, [merchant, key, id]])).length === 1
}

async function notify(
  connection: Connection,
  type: string,
  payload: object & { readonly merchant: string },
): Promise<void> {
  const text = 'insert into webhook_events (merchant, type, payload) values ($1, $2, $3)'
  await run(connection, 'notify', [text, [payload.merchant, type, JSON.stringify(payload)]])
}

export async function requestPayout(connection: Connection, asked: Asked): Promise<object | undefined> {
  const { merchant, id, body } = asked
  const { amount, currency, destination, metadata } = body
  const fee = Math.ceil(Number(amount) / 100)
  if (!(await remember(connection, asked))) return undefined
  const hold = `update balances set available = available - $3, reserved = reserved + $3
    where merchant = $1 and currency = $2 and available >= $3 returning available`
  const held = await run(connection, 'hold', [hold, [merchant, currency, Number(amount) + fee]])
  if (held.length === 0) return undefined
  const insert = `insert into payouts (id, merchant, status, amount, fee, currency, destination, metadata)
    values ($1, $2, 'pending', $3, $4, $5, $6, $7) returning *`
  const values = [
    id,
    merchant,
    amount,
    fee,
    currency,
    JSON.stringify(destination),
    JSON.stringify(metadata ?? {}),
  ]
  const [payout] = await run<{ merchant: string }>(connection, 'payout', [insert, values])
  const entries = `insert into ledger_entries (merchant, subject, account, amount)
    values ($1, $2, 'available', -$3::bigint), ($1, $2, 'reserved', $3::bigint)`
  await run(connection, 'entries', [entries, [merchant, id, Number(amount) + fee]])
  await notify(connection, 'payout.created', payout!)
  return payout
}

export async function createIntent(connection: Connection, asked: Asked): Promise<object | undefined> {
  const { merchant, id, body } = asked
  const { amount, currency, transaction_country, metadata } = body
  if (!(await remember(connection, asked))) return undefined
  const insert = `insert into payment_intents (id, merchant, status, amount, currency, country, metadata)
    values ($1, $2, 'requires_payment_method', $3, $4, $5, $6) returning *`
  const values = [id, merchant, amount, currency, transaction_country, JSON.stringify(metadata ?? {})]
  const [intent] = await run<{ merchant: string }>(connection, 'intent', [insert, values])
  await notify(connection, 'payment_intent.created', intent!)
  return intent
}

export async function confirmIntent(
  connection: Connection,
  { merchant, id, body }: Asked,
): Promise<object | undefined> {
  const lock = 'select status from payment_intents where id = $1 and merchant = $2 for update'
  const [known] = await run<{ status: string }>(connection, 'lock', [lock, [id, merchant]])
  if (known?.status !== 'requires_payment_method') return undefined
  const operation = `insert into operations (resource, type, status) values ($1, 'payment', 'pending')`
  await run(connection, 'operation', [operation, [id]])
  const update = `update payment_intents set status = 'processing', method = $2, updated_at = now() where id = $1 returning *`
  const values = [id, JSON.stringify(body['payment_method'])]
  const [intent] = await run<{ merchant: string }>(connection, 'confirm', [update, values])
  await notify(connection, 'payment_intent.processing', intent!)
  return intent
}

export async function succeedIntent(
  connection: Connection,
  { merchant, body }: Asked,
): Promise<object | undefined> {
  const id = String(body['payment_intent_id'])
  const lock = 'select status, amount from payment_intents where id = $1 and merchant = $2 for update'
  const [known] = await run<{ status: string; amount: string }>(connection, 'lock-amount', [
    lock,
    [id, merchant],
  ])
  if (known?.status !== 'processing') return undefined
  const update = `update payment_intents set status = 'succeeded', updated_at = now() where id = $1 returning *`
  const [intent] = await run<{ merchant: string }>(connection, 'succeed', [update, [id]])
  await run(connection, 'end', [`update operations set status = 'succeeded' where resource = $1`, [id]])
  const amount = Number(known.amount)
  const fee = Math.ceil(amount / 50)
  const entries = `insert into ledger_entries (merchant, subject, account, amount) values
    ($1, $2, 'provider', -$3::bigint), ($1, $2, 'available', $3::bigint - $4::bigint), ($1, $2, 'fees', $4::bigint)`
  await run(connection, 'collect', [entries, [merchant, id, amount, fee]])
  const balance = `update balances set available = available + $2 where merchant = $1 and currency = 'XOF'`
  await run(connection, 'balance', [balance, [merchant, amount - fee]])
  await notify(connection, 'payment_intent.succeeded', intent!)
  return intent
}

export async function showPayout(
  connection: Connection,
  merchant: string,
  id: string,
): Promise<object | undefined> {
  const text = 'select * from payouts where id = $1 and merchant = $2'
  return (await run(connection, 'show', [text, [id, merchant]]))[0]
}

/** One row more than requested shows whether there is another page. */
export async function listPayouts(
  connection: Connection,
  [merchant, status, limit]: [string, string, number],
): Promise<object> {
  const text = 'select * from payouts where merchant = $1 and status = $2 order by number desc limit $3'
  const rows = await run(connection, 'list', [text, [merchant, status, limit + 1]])
  return { object: 'list', data: rows.slice(0, limit), has_more: rows.length > limit }
}
