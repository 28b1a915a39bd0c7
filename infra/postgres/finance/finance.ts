import { financeViewTable, type FinanceView } from './views.ts'

const schema = 'finance'
/** Cannot log in: a person's own role is made its member. */
const reader = 'ikw_finance'

/**
 * Stable views for finance, recreated whenever a read model below them is published. Readers see the views
 * and nothing underneath, because a view reads with its owner's rights.
 */
export const financeViews = [
  `create schema if not exists ${schema};`,
  `comment on schema ${schema} is 'Views for finance and auditors, described in docs/finance.md';`,
  ...financeViewTable.map(makeView),
  grant(),
].join('\n')

function makeView({ name, comment, columns, from }: FinanceView): string {
  const view = `${schema}.${name}`
  const selected = columns.map(([column, expression]) => `${expression} as ${column}`).join(', ')
  return [
    `drop view if exists ${view} cascade;`,
    `create view ${view} as select ${selected} ${from};`,
    `comment on view ${view} is ${literal(comment)};`,
    ...columns.map(([column, , meaning]) => `comment on column ${view}.${column} is ${literal(meaning)};`),
  ].join('\n')
}

/**
 * Roles belong to the server, not the database, so somebody else may have created it or be creating it now.
 * Where this user may not create roles, the views exist and granting is left to somebody who may.
 */
function grant(): string {
  return `do $finance$
    begin
      begin
        if not exists (select from pg_roles where rolname = '${reader}') then
          create role ${reader} nologin;
        end if;
      exception when duplicate_object or unique_violation then null;
      end;
      grant usage on schema ${schema} to ${reader};
      grant select on all tables in schema ${schema} to ${reader};
    exception when insufficient_privilege or undefined_object then
      raise notice 'role ${reader} could not be made or granted';
    end
  $finance$;`
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
