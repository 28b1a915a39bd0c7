/** A statement that must find nothing. A row may say in `stage` during which fault it went wrong. */
export interface Law {
  readonly kind: 'lost' | 'doubled' | 'broken'
  readonly query: string
}

const uuid = (id: string) =>
  `regexp_replace(substr(${id}, 4), '(.{8})(.{4})(.{4})(.{4})(.{12})', '\\1-\\2-\\3-\\4-\\5')`

/** Who was answered 2xx. */
const acknowledged = (resource: string) => `
  select key, stage, ${uuid(`answer->>'id'`)} as id, answer, path from asked
  where resource = '${resource}' and status between 200 and 299`

/** Which endpoint gets which public event, by what it was registered for. */
const matching = `
  select endpoint.id as endpoint, endpoint.name, told.id as event, told.created_at
  from public_events told join endpoints endpoint
    on endpoint.merchant = told.merchant and endpoint.created < told.position
    and (endpoint.pattern = '*' or told.type like replace(endpoint.pattern, '*', '%'))`

const toldTypes = `(
  'PayoutRequested', 'PayoutSent', 'PayoutPaid', 'PayoutFailed', 'PaymentIntentCreated', 'PaymentIntentSubmitted',
  'PaymentIntentSucceeded', 'PaymentIntentFailed')`

const effects = `
  select stream, posting->>'account' as account, event.position, line,
    posting->>'side' as side, (posting->>'amount')::bigint as amount,
    (posting->>'amount')::bigint * case
      when (posting->>'account' ~ '^(provider:|sandbox\\.funding)') = (posting->>'side' = 'debit') then 1 else -1
    end as effect
  from events event cross join json_array_elements(event.data->'postings') with ordinality each (posting, line)
  where stream like 'ledger-%'`

/** The stream of a book is named `ledger-<merchant>.<live|test>.<currency>`. */
const booked = `
  select substr(split_part(stream, '.', 1), 8) as merchant, split_part(stream, '.', 2) = 'live' as livemode,
    split_part(stream, '.', 3) as currency,
    sum(effect) filter (where account = 'merchant.available') as available,
    sum(effect) filter (where account = 'merchant.pending') as pending,
    sum(effect) filter (where account in ('merchant.reserved', 'clearing.payout')) as reserved
  from (${effects}) posted group by stream`

const statuses: Readonly<Record<string, string>> = {
  payouts: `case (array_agg(type order by revision desc) filter (where type ~
      '^Payout(Requested|Sent|Paid|Failed|Canceled|Returned)$'))[1]
    when 'PayoutRequested' then 'pending' when 'PayoutSent' then 'in_transit' when 'PayoutPaid' then 'paid'
    when 'PayoutCanceled' then 'canceled' else 'failed' end`,
  payment_intents: `case (array_agg(type order by revision desc) filter (where type ~
      '^PaymentIntent(Created|Submitted|ActionRequired|Succeeded|Failed|Canceled)$'))[1]
    when 'PaymentIntentCreated' then 'requires_payment_method' when 'PaymentIntentSubmitted' then 'processing'
    when 'PaymentIntentActionRequired' then 'requires_action' when 'PaymentIntentSucceeded' then 'succeeded'
    when 'PaymentIntentCanceled' then 'canceled' else 'failed' end`,
}

const shownStatus = (table: string, category: string, begun: string) => `
  select logged.id, logged.status as logged, shown.status as shown from (
    select substr(stream, ${category.length + 2}) as id, ${statuses[table]} as status from events
    where stream like '${category}-%' group by stream having bool_or(type = '${begun}')
  ) logged full join read.${table} shown using (id)
  where logged.status is distinct from shown.status`

/** Beside those of `test/support/load/checker.ts`: what must be true of what everybody else has seen. */
export const laws: Readonly<Record<string, Law>> = {
  'an acknowledged payout is in the log as it was asked for': {
    kind: 'lost',
    query: `select given.* from (${acknowledged('payout')}) given where not exists (
      select from events where stream = 'payout-' || given.id and type = 'PayoutRequested'
        and data->'money'->>'amount' = given.answer->>'amount' and metadata->>'idempotencyKey' = given.key)`,
  },
  'an acknowledged payout holds its money once': {
    kind: 'doubled',
    query: `select given.*, placed.count from (${acknowledged('payout')}) given left join (
        select data->>'holdId' as hold, count(*) as count from events where type = 'HoldPlaced' group by 1
      ) placed on placed.hold = given.id where placed.count is distinct from 1`,
  },
  'an acknowledged payment intent is in the log': {
    kind: 'lost',
    query: `select given.* from (${acknowledged('payment_intent')}) given where not exists (
      select from events where stream = 'payment_intent-' || given.id and type = 'PaymentIntentCreated')`,
  },
  'an acknowledged confirmation has begun': {
    kind: 'lost',
    query: `select given.* from (${acknowledged('confirmation')}) given where not exists (
      select from events where stream = 'payment_intent-' || given.id
        and type = 'PaymentIntentConfirmationStarted')`,
  },
  'a payment intent is collected at most once': {
    kind: 'doubled',
    query: `select pg_temp.stage_at(min(started.metadata->>'at')) as stage, started.stream
      from events started join sandbox_operations operation on operation.reference = started.data->>'operationId'
      where started.type = 'PaymentIntentConfirmationStarted'
      group by started.stream having sum(operation.executions) > 1`,
  },
  'a refused request has left no trace': {
    kind: 'broken',
    query: `select asked.key, asked.stage, asked.status, array_agg(event.type) as types
      from asked join events event on event.metadata->>'idempotencyKey' = asked.key
      where asked.status between 400 and 499 group by 1, 2, 3`,
  },
  'nothing is answered as a failure of the service': {
    kind: 'broken',
    query: 'select key, stage, path, status, answer from asked where status >= 500',
  },
  'a payout comes to its end': {
    kind: 'lost',
    query: `select pg_temp.stage_at(metadata->>'at') as stage, stream from events requested
      where type = 'PayoutRequested' and not exists (
        select from events later where later.stream = requested.stream
          and later.type in ('PayoutPaid', 'PayoutFailed', 'PayoutCanceled'))`,
  },
  'money that goes from one book to another arrives or comes back': {
    kind: 'lost',
    query: `select stream, account, sum(effect) as left from (${effects}) posted
      where account like 'transfer.clearing:%' group by stream, account having sum(effect) <> 0`,
  },
  'what books have given each other adds up to nothing': {
    kind: 'lost',
    query: `select sum(effect) as left from (${effects}) posted
      where account = 'provider:internal' having sum(effect) <> 0`,
  },
  'each step of a transfer is made once': {
    kind: 'doubled',
    query: `select data->'subject'->>'id' as transfer, data->>'template' as step from events
      where type = 'EntryPosted' and data->>'template' like 'transfer.%' group by 1, 2 having count(*) > 1`,
  },
  'a transfer comes to its end': {
    kind: 'lost',
    query: `select pg_temp.stage_at(metadata->>'at') as stage, stream from events requested
      where type = 'TransferRequested' and not exists (
        select from events later where later.stream = requested.stream
          and later.type in ('TransferSettled', 'TransferRefused', 'TransferReturned'))`,
  },
  'merchants are told of all that happens': {
    kind: 'lost',
    query: `select pg_temp.stage_at(event.metadata->>'at') as stage, event.type, event.position
      from events event left join public_events told on told.position = event.position
      where event.type in ${toldTypes} and told.id is null`,
  },
  'each event has a delivery for each matching endpoint': {
    kind: 'lost',
    query: `select pg_temp.stage_at(due.created_at::text) as stage, due.event, due.name from (${matching}) due
      where not exists (
        select from deliveries where endpoint = due.endpoint and event = due.event and replay is null)`,
  },
  'each event has one delivery for each matching endpoint, and none for others': {
    kind: 'doubled',
    query: `select pg_temp.stage_at(min(made.created_at)::text) as stage, made.endpoint, made.event
      from deliveries made left join (${matching}) due
        on due.endpoint = made.endpoint and due.event = made.event
      group by made.endpoint, made.event having count(*) > 1 or count(due.event) = 0`,
  },
  'each delivery has reached its endpoint': {
    kind: 'lost',
    query: `select pg_temp.stage_at(due.created_at::text) as stage, due.event, due.name from (${matching}) due
      where not exists (select from received where endpoint = due.name and event = due.event)`,
  },
  'events of one resource reach an endpoint in order': {
    kind: 'broken',
    query: `select pg_temp.stage_at(told.created_at::text) as stage, later.* from (
        select endpoint, resource, event, sequence,
          lag(sequence) over (partition by endpoint, resource order by nth) as before
        from (select endpoint, resource, event, sequence, min(nth) as nth from received
              group by 1, 2, 3, 4) first_time
      ) later join public_events told on told.id = later.event where later.sequence < later.before`,
  },
  'payouts are shown as the log has them': {
    kind: 'broken',
    query: shownStatus('payouts', 'payout', 'PayoutRequested'),
  },
  'payment intents are shown as the log has them': {
    kind: 'broken',
    query: shownStatus('payment_intents', 'payment_intent', 'PaymentIntentCreated'),
  },
  'balances are shown as the journal has them': {
    kind: 'broken',
    query: `select * from (${booked}) log full join read.balances shown using (merchant, livemode, currency)
      where (coalesce(log.available, 0), coalesce(log.pending, 0), coalesce(log.reserved, 0))
        is distinct from (shown.available, shown.pending, shown.reserved)`,
  },
  'the journal is shown as the log has it': {
    kind: 'broken',
    query: `select coalesce(log.position, shown.position) as position, shown.line from (${effects}) log
      full join read.journal shown on shown.position = log.position and shown.line = log.line
      where (log.account, log.side, log.amount) is distinct from (shown.account, shown.side, shown.amount)`,
  },
  'only who is elected writes as a leader': {
    kind: 'broken',
    query: `select pg_temp.stage_at(min(at)::text) as stage, who, what, count(*) from audit
      where who ~ '^(projector|processes|relay)-' and who is distinct from (
        select instance from elections where name = split_part(who, '-', 1) and elections.at <= audit.at
        order by elections.at desc limit 1)
        and not (what like 'timer_attempts %' and who in (
          select distinct on (name) instance from elections
          where name like 'timers %' and elections.at <= audit.at order by name, elections.at desc))
      group by who, what`,
  },
  'every consumer has followed the log to its end': {
    kind: 'broken',
    query: 'select name, position from checkpoints where position < (select max(position) from events)',
  },
}
