import type pg from 'pg'

/** Subscriptions as a plain service keeps them: rows that are changed in place. */
export async function seedSubscriptions(pool: pg.Pool, count: number, merchants: number): Promise<void> {
  await pool.query(`
    create table merchants (id integer primary key, invoices integer not null default 0);
    create table subscriptions (
      id integer primary key, merchant integer not null, amount bigint not null, period integer not null default 0,
      due_at timestamptz not null
    );
    create index on subscriptions (due_at);
    create table invoices (
      subscription integer, period integer, merchant integer, number integer, amount bigint,
      primary key (subscription, period)
    );
    create table outbox (id bigint generated always as identity primary key, type text, body jsonb)`)
  await pool.query('insert into merchants (id) select n from generate_series(0, $1::integer - 1) n', [
    merchants,
  ])
  const text = `
    insert into subscriptions (id, merchant, amount, due_at)
    select n, n % $2::integer, 5000, now() from generate_series(1, $1::integer) n`
  await pool.query(text, [count, merchants])
  await pool.query('analyze')
}

const atOnce = 64

/** Each subscription in a transaction of its own, with its invoice, the number and what is announced. */
export async function renewAll(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ id: number }>('select id from subscriptions where due_at <= now()')
  const ids = rows.map(({ id }) => id)
  const begun = performance.now()
  const work = async () => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) await renew(pool, id)
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return (rows.length * 1_000) / (performance.now() - begun)
}

async function renew(pool: pg.Pool, id: number): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const due = await client.query<{ merchant: number; amount: string; period: number }>(
      `update subscriptions set period = period + 1, due_at = due_at + interval '1 month'
       where id = $1 and due_at <= now() returning merchant, amount, period`,
      [id],
    )
    const { merchant, amount, period } = due.rows[0]!
    const body = JSON.stringify({ subscription: id, amount })
    await client.query('insert into outbox (type, body) values ($1, $2)', ['subscription.renewed', body])
    // Last, because it locks the merchant: numbers have no gaps.
    const numbered = await client.query<{ invoices: number }>(
      'update merchants set invoices = invoices + 1 where id = $1 returning invoices',
      [merchant],
    )
    const number = numbered.rows[0]!.invoices
    await client.query('insert into invoices values ($1, $2, $3, $4, $5)', [
      id,
      period,
      merchant,
      number,
      amount,
    ])
    await client.query('insert into outbox (type, body) values ($1, $2)', ['invoice.created', body])
    await client.query('commit')
  } finally {
    client.release()
  }
}
