import { financeViewTable, type FinanceView } from './views.ts'

const schema = 'finance'
/** Cannot log in: a person's own role is made its member. */
export const financeReader = 'ikw_finance'

/**
 * Stable views for finance, recreated whenever a read model below them is published. Readers see the views
 * and nothing underneath, because a view reads with its owner's rights.
 */
export const financeViews = [
  `create schema if not exists ${schema};`,
  `comment on schema ${schema} is 'Views for finance and auditors, described in docs/finance.md';`,
  ...financeViewTable.map(makeView),
  balancesAt(),
  grant(),
].join('\n')

function makeView({ name, comment, columns, from }: FinanceView): string {
  const view = `${schema}.${name}`
  const selected = columns.map(([column, expression]) => `${expression} as ${column}`).join(', ')
  const statements = [
    `drop view if exists ${view} cascade;`,
    `create view ${view} as select ${selected} ${from};`,
    `comment on view ${view} is ${literal(comment)};`,
    ...columns.map(([column, , meaning]) => `comment on column ${view}.${column} is ${literal(meaning)};`),
  ]
  return onceRebuilt(name, statements.join('\n'))
}

/** A read model of an older version lacks columns: what stands on them is made when it is rebuilt. */
function onceRebuilt(name: string, statements: string): string {
  return `do $once$ begin
      ${statements}
    exception when undefined_column or undefined_table then
      raise notice '${schema}.${name} waits for a read model to be rebuilt';
    end $once$;`
}

/**
 * The two times of the API as SQL. Of each book it leaves out the first entry that was written after
 * `known_at` and all behind it, whatever their clocks said. Reads with the rights of whoever asks.
 */
function balancesAt(): string {
  const statements = `create or replace function ${schema}.balances_at(
      as_of timestamptz default 'infinity', known_at timestamptz default 'infinity')
    returns table (merchant text, environment text, currency text, book text, account text,
      account_class text, balance numeric)
    language sql stable set search_path = pg_catalog as $balances$
      with unknown as (
        select p.book, min(p.log_position) as since from ${schema}.postings p
        where p.occurred_at > balances_at.known_at group by p.book
      )
      select p.merchant, p.environment, p.currency, p.book, p.account, p.account_class, sum(p.balance_effect)
      from ${schema}.postings p left join unknown u on u.book = p.book
      where p.effective_at <= balances_at.as_of and (u.since is null or p.log_position < u.since)
      group by 1, 2, 3, 4, 5, 6 having sum(p.balance_effect) <> 0
    $balances$;
    comment on function ${schema}.balances_at(timestamptz, timestamptz) is
      'Balances of all accounts as of one time, as they were known at another';
    revoke all on function ${schema}.balances_at(timestamptz, timestamptz) from public;`
  return onceRebuilt('balances_at', statements)
}

/**
 * Roles belong to the server, not the database, so somebody else may have created it or be creating it now.
 * Where this user may not create roles, the views exist and granting is left to somebody who may.
 */
function grant(): string {
  return `do $finance$
    begin
      begin
        if not exists (select from pg_roles where rolname = '${financeReader}') then
          create role ${financeReader} nologin;
        end if;
      exception when duplicate_object or unique_violation then null;
      end;
      grant usage on schema ${schema} to ${financeReader};
      grant select on all tables in schema ${schema} to ${financeReader};
      grant execute on all functions in schema ${schema} to ${financeReader};
    exception when insufficient_privilege or undefined_object then
      raise notice 'role ${financeReader} could not be made or granted';
    end
  $finance$;`
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
