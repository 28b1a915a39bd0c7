import type pg from 'pg'

/**
 * Every posting of the journal, with what it adds to its account: debits raise assets, credits everything
 * else.
 */
export const postings = `
  select event.stream as book, event.position, event.type, event.data, posting->>'account' as account,
    posting->>'side' as side, (posting->>'amount')::bigint as amount,
    (posting->>'amount')::bigint * case
      when (posting->>'account' ~ '^(provider:|sandbox\\.funding)') = (posting->>'side' = 'debit') then 1 else -1
    end as effect
  from events event cross join json_array_elements(event.data->'postings') posting
  where event.stream like 'ledger-%'`

const ends = `('PayoutPaid', 'PayoutFailed', 'PayoutCanceled')`

/**
 * What must be true of a log and of the simulated operators' records, as queries that find violations. They
 * share nothing with the service except the stored events.
 */
export const laws: Readonly<Record<string, string>> = {
  'the revisions of a stream are counted from 0': `
    select stream from events group by stream having max(revision) <> count(*) - 1`,

  'debits and credits of each entry are equal': `
    select position from (${postings}) p group by position
    having sum(amount) filter (where side = 'debit') is distinct from sum(amount) filter (where side = 'credit')`,

  'no balance of a merchant is ever below zero': `
    select * from (
      select book, account, position,
        sum(effect) over (partition by book, account order by position) as balance
      from (${postings}) p where account not like 'provider:%' and account <> 'sandbox.funding'
    ) running where balance < 0`,

  'what is reserved and in clearing is what the open holds hold': `
    select held.book, held.total, open.total from (
      select book, sum(effect) as total from (${postings}) p
      where account in ('merchant.reserved', 'clearing.payout') group by book
    ) held full join (
      select stream as book, sum((data->'amounts'->>'amount')::bigint + (data->'amounts'->>'fee')::bigint) as total
      from events placed where type = 'HoldPlaced' and not exists (
        select from events ended where ended.type in ('HoldPosted', 'HoldVoided')
          and ended.stream = placed.stream and ended.data->>'holdId' = placed.data->>'holdId'
      ) group by stream
    ) open using (book)
    where coalesce(held.total, 0) <> coalesce(open.total, 0)`,

  'a hold is placed once and ends at most once': `
    select stream, data->>'holdId' as hold from events
    where stream like 'ledger-%' and type like 'Hold%' group by 1, 2
    having count(*) filter (where type = 'HoldPlaced') <> 1
      or count(*) filter (where type in ('HoldPosted', 'HoldVoided')) > 1`,

  'a hold of a payout goes the way of its payout': `
    select paying.stream from (
      select stream, substr(stream, 8) as id,
        bool_or(type = 'PayoutPaid') as paid, bool_or(type in ('PayoutFailed', 'PayoutCanceled')) as failed
      from events where stream like 'payout-%' and type in ${ends} group by stream
    ) paying left join events ended
      on ended.type in ('HoldPosted', 'HoldVoided') and ended.data->>'holdId' = paying.id
    where ended.type is distinct from case when paid then 'HoldPosted' else 'HoldVoided' end`,

  'an idempotency key has started one stream': `
    select metadata->>'idempotencyKey' as key from events
    where revision = 0 and metadata->>'idempotencyKey' is not null and stream ~ '^(payout|payment_intent|refund)-'
    group by 1 having count(*) > 1`,

  'an operation is executed at most once': `
    select reference, executions from sandbox_operations where executions > 1`,

  'operators were told of payouts that were sent, and of no others': `
    select reference from sandbox_operations where kind = 'disbursement' and not exists (
      select from events where stream = 'payout-' || reference and type = 'PayoutSent')`,

  'a payout is paid exactly when its operator has executed it': `
    select operation.reference, operation.executions, paid.type
    from sandbox_operations operation
    left join events paid on paid.stream = 'payout-' || operation.reference and paid.type = 'PayoutPaid'
    where operation.kind = 'disbursement' and (operation.executions = 1) <> (paid.type is not null)`,

  'a payment has succeeded exactly when its provider has executed it': `
    select operation.reference, operation.executions, paid.type
    from sandbox_operations operation left join events paid on paid.stream like 'payment_intent-%'
      and paid.type in ('PaymentIntentSucceeded', 'PaymentIntentLateSuccessRecorded')
      and paid.data->>'operationId' = operation.reference
    where operation.kind = 'collection' and (operation.executions = 1) <> (paid.type is not null)`,

  'a refund has succeeded exactly when its provider has executed it': `
    select operation.reference, operation.executions, paid.type
    from sandbox_operations operation
    left join events paid on paid.stream = 'refund-' || operation.reference and paid.type = 'RefundSucceeded'
    where operation.kind = 'refund' and (operation.executions = 1) <> (paid.type is not null)`,

  'every payout has ended or is shown as delayed': `
    select stream from events requested where type = 'PayoutRequested' and not exists (
      select from events later where later.stream = requested.stream
        and later.type in ('PayoutPaid', 'PayoutFailed', 'PayoutCanceled', 'PayoutDelayed'))`,

  'merchants are told once of each request and each end': `
    select event.position from events event left join public_events told on told.position = event.position
    where event.type in ('PayoutRequested', 'PayoutPaid', 'PayoutFailed', 'PaymentIntentSucceeded', 'RefundSucceeded')
      and told.id is null`,

  'nothing is parked': 'select consumer, type, error from parked',
}

/** Every violated law, with the first rows that violate it. */
export async function brokenLaws(
  pool: pg.Pool,
  asked = laws,
): Promise<Readonly<Record<string, readonly object[]>>> {
  const broken: Record<string, readonly object[]> = {}
  for (const [law, query] of Object.entries(asked)) {
    const { rows } = await pool.query<object>(`select * from (${query}) broken limit 5`)
    if (rows.length > 0) broken[law] = rows
  }
  return broken
}
