import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { connectPostgres, surviveBrokenConnections } from '../../infra/postgres/client/connect.ts'
import { grantReader, askReadersForPassword, psqlLine } from '../../infra/postgres/finance/roles.ts'
import { financeViewTable } from '../../infra/postgres/finance/views.ts'
import {
  publications,
  publishMissing,
  requestNewGeneration,
} from '../../infra/postgres/read-models/publication.ts'
import { financeReader, financeViews } from '../../infra/postgres/finance/finance.ts'
import { migrate } from '../../infra/postgres/migrate.ts'
import { tableOf } from '../../infra/postgres/read-models/tables.ts'
import { readModels } from '../../projections/index.ts'
import { payouts } from '../../projections/payouts.ts'
import { jsonOf, openCommandLine, type CommandLine } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory, testDatabase, ownLocks } from '../support/postgres.ts'
import { root } from '../support/root.ts'

interface Granted {
  readonly password: string
  readonly connect: string
  readonly leftToDo: string
}

let cli: CommandLine
/** Roles belong to the server, which other files may share. */
const name = `awa_${process.pid}`

t.before(async () => {
  cli = await openCommandLine()
})
t.teardown(() => cli.run('finance', 'revoke', name))

const pool = () => cli.service.service.runtime.postgres.pool

async function asReader<Result>(
  password: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const { host, port, database } = new pg.Client(cli.service.service.runtime.postgres.url)
  const client = new pg.Client({ host, port, ...(database && { database }), user: name, password })
  client.on('error', () => undefined)
  await client.connect()
  return work(client).finally(() => client.end())
}

/** Each is tried in a session that has made itself as free as it can. */
const forbidden: Readonly<Record<string, string>> = {
  'reading the log': 'select * from public.events',
  'reading a read model': 'select * from read.journal',
  'reading keys': 'select * from public.log_keys',
  'reading deliveries': 'select * from public.deliveries',
  'reading passwords': 'select * from pg_authid',
  'changing a view': 'update finance.payouts set amount = 0',
  'adding to a view': `insert into finance.fees (account) values ('x')`,
  'deleting from a view': 'delete from finance.postings',
  'emptying a view': 'truncate finance.journal',
  'dropping a view': 'drop view finance.fees',
  'renaming a column': 'alter view finance.fees rename column amount to mine',
  'replacing a view': 'create or replace view finance.fees as select 1 as amount',
  'commenting a view': `comment on view finance.fees is 'mine'`,
  'changing the function': `alter function finance.balances_at(timestamptz, timestamptz) reset all`,
  'a table among the views': 'create table finance.mine ()',
  'a table in public': 'create table public.mine ()',
  'a temporary table': 'create temporary table mine ()',
  'a schema': 'create schema mine',
  'a function': `create function finance.mine() returns int language sql as 'select 1'`,
  'an extension': 'create extension citext schema finance',
  'a large object': 'select lo_create(0)',
  'a large object with content': `select lo_from_bytea(0, 'mine')`,
  'a large object from a file': `select lo_import('/etc/passwd')`,
  'a file of the server': `select pg_read_file('/etc/passwd')`,
  'a directory of the server': `select pg_ls_dir('.')`,
  'a file by COPY': `copy (select 1) to '/tmp/mine'`,
  'a program by COPY': `copy (select 1) to program 'true'`,
  'the lock of a leader': 'select pg_advisory_lock(1)',
  'a shared lock': 'select pg_try_advisory_xact_lock_shared(1)',
  'locking a view against writers':
    'do $$ begin lock table finance.postings in share row exclusive mode; end $$',
  'a file into a view by COPY': `copy finance.fees from '/etc/passwd'`,
  'a table by COPY': 'copy public.events to stdout',
  'what a block may not do either': 'do $$ begin create table finance.mine (); end $$',
  'a large object by its number': 'select lo_get(1)',
  'a file of the server in bytes': `select pg_read_binary_file('/etc/passwd')`,
  'another language': 'create language plpython3u',
  'another role': 'create role mine',
  'being the service': 'set role ikw',
  'being the service for the session': 'set session authorization ikw',
  'more rights': `alter role ${name} createrole`,
  'giving rights away': 'grant select on public.events to public',
  'a database': 'create database mine',
  'a setting of the server': `alter system set log_statement = 'all'`,
  'space without end': `set temp_file_limit = -1`,
  'a message in the log of writes': `select pg_logical_emit_message(false, 'mine', repeat('x', 1000))`,
  'space without end for later': `alter role ${name} reset temp_file_limit`,
  'ending the service': `select pg_terminate_backend(pid) from pg_stat_activity where usename <> current_user`,
}

t.test('a login reads every view, and can do nothing else', async (t) => {
  const { password, leftToDo } = jsonOf<Granted>(await cli.run('finance', 'grant', name, '--json'))
  t.equal(leftToDo, '')
  await asReader(password, async (client) => {
    await lawOver(t, financeViewTable, async (view) => {
      t.ok(await client.query(`select * from ${view.name}`), `${view.name} is found without its schema`)
    })
    await t.rejects(client.query('create table x ()'), /permission denied|read-only/)
    await client.query('set default_transaction_read_only = off; set transaction_read_only = off')
    await lawOver(t, Object.entries(forbidden), async ([what, text]) => {
      await t.rejects(client.query(text), /permission denied|must be|cannot|not exist|is not a table/, what)
    })
  })
})

t.test('what a login is refused is there: the service may still do it', async (t) => {
  const allowed = ['select pg_advisory_lock(1), pg_advisory_unlock(1)', 'select lo_unlink(lo_create(0))']
  for (const text of allowed) t.ok(await pool().query(text), text)
})

t.test('sessions of a login are limited, and its password is kept as a verifier', async (t) => {
  const { password } = jsonOf<Granted>(await cli.run('finance', 'grant', name, '--json'))
  await asReader(password, async (client) => {
    const shown = async (setting: string) =>
      (await client.query(`show ${setting}`)).rows[0]?.[setting] as string
    t.equal(await shown('statement_timeout'), '1min')
    t.equal(await shown('default_transaction_read_only'), 'on')
    t.equal(await shown('search_path'), 'finance')
    t.equal(await shown('temp_file_limit'), '2GB')
  })
  const kept = await pool().query<{ verifier: string }>(
    'select rolpassword as verifier from pg_authid where rolname = $1',
    [name],
  )
  t.match(kept.rows[0]?.verifier, /^SCRAM-SHA-256\$4096:/)
  t.notMatch(kept.rows[0]?.verifier, password)
})

t.test('a report that is read for hours keeps a rebuild waiting, and nothing else', async (t) => {
  const { password } = jsonOf<Granted>(await cli.run('finance', 'grant', name, '--json'))
  const generation = async () => (await publications(pool())).get(payouts.name)?.generation
  await asReader(password, async (client) => {
    await client.query('set idle_in_transaction_session_timeout = 0; begin; select count(*) from payouts')
    await requestNewGeneration(pool(), payouts)
    const waiting = `select from ${ownLocks} where relation = to_regclass('read.payouts') and not granted`
    await eventually(
      async () => (await pool().query(waiting)).rowCount,
      (count) => count === 1,
    )
    const { status } = await cli.service.post('/api/v1/payouts', cli.history.payoutOrder)
    t.equal(status, 201)
    const { store, reads } = cli.service.service.runtime.dependencies
    t.ok(await reads.reached(await store.head(), 10_000), 'read models are kept up to date')
    t.match(await cli.service.get('/api/v1/merchant/payouts'), { status: 200 })
    t.equal(await generation(), 1)
  })
  await eventually(generation, (now) => now === 2)
})

t.test('a rebuild waits for the upkeep of the old table, and no report waits behind it', async (t) => {
  const generation = async () => (await publications(pool())).get(payouts.name)!.generation
  const before = await generation()
  const table = tableOf(payouts, before).name
  const upkeep = await pool().connect()
  t.teardown(() => upkeep.release(true))
  // As autovacuum does, which gives way only to those who wait longer than for a view.
  await upkeep.query(`begin; lock table ${table} in share update exclusive mode`)
  await requestNewGeneration(pool(), payouts)
  const waiting = `select from ${ownLocks}
    where relation = to_regclass('${table}') and mode = 'ShareUpdateExclusiveLock' and not granted`
  await eventually(
    async () => (await pool().query(waiting)).rowCount,
    (count) => count === 1,
  )
  await upkeep.query('set local lock_timeout = 1; select from read.payouts')
  t.equal(await generation(), before)
  await upkeep.query('rollback')
  await eventually(generation, (now) => now === before + 1)
})

t.test('every query of the page for finance is run by a login', async (t) => {
  const { password } = jsonOf<Granted>(await cli.run('finance', 'grant', name, '--json'))
  const page = readFileSync(join(root, 'docs/finance.md'), 'utf8')
  const queries = page.match(/^ {4}-- .*\n(?: {4}.*\n)+?(?=\n|$)/gm) ?? []
  t.ok(queries.length >= 7)
  await asReader(password, async (client) => {
    await lawOver(t, queries, async (query) => {
      const [title = ''] = query.trim().split('\n')
      t.ok(await client.query(query.replace('po_…', cli.history.paidPayout)), title)
    })
  })
})

t.test('a name that is taken or could be ours is refused, and a login can be ended', async (t) => {
  await pool().query(`create role ${name}_other`)
  const taken = await cli.run('finance', 'grant', `${name}_other`)
  t.match(taken, { code: 2, stderr: /another role/ })
  await pool().query(`drop role ${name}_other`)
  await pool().query(`create role ${name}_admin createdb login in role ikw_finance`)
  for (const command of ['grant', 'revoke'])
    t.match(await cli.run('finance', command, `${name}_admin`), { code: 2 }, `${command}: an administrator`)
  await pool().query(`drop role ${name}_admin`)
  t.match(await cli.run('finance', 'grant', 'ikw_finance'), { code: 2 })
  t.match(await cli.run('finance', 'grant', `x"; drop role ikw; --`), { code: 2 })
  await pool().query(`alter role ${name} set statement_timeout = 0`)
  t.match(await cli.run('finance', 'revoke', name), { code: 0 })
  t.match(await cli.run('finance', 'revoke', name), { code: 2 })
})

/** As on a server of somebody else: the service may make roles, and nothing more. */
t.test(
  'where the service may not forbid something, an administrator does, and the service goes on',
  async (t) => {
    const [service, reader] = [`svc_${process.pid}`, `ext_${process.pid}`]
    const { pool: administrator, url } = await testDatabase(t)
    await administrator.query(`create role ${service} login createrole`)
    await administrator.query(`grant ${financeReader} to ${service} with admin option`)
    const { host, port, database } = new pg.Client(url)
    const pool = new pg.Pool({ host, port, ...(database && { database }), user: service })
    surviveBrokenConnections(pool)
    t.teardown(async () => {
      await pool.end()
      await administrator.query(
        `drop owned by ${service}; drop role if exists ${reader}; drop role ${service}`,
      )
    })
    const reopened = `do $$ declare f regprocedure; begin
      for f in select oid::regprocedure from pg_proc where pronamespace = 'pg_catalog'::regnamespace
        and proname ~ '^(lo_|loread|lowrite|pg_(try_)?advisory_)'
      loop execute format('grant execute on function %s to public', f); end loop; end $$`
    for (const before of ['select', reopened]) {
      await administrator.query(before)
      const { leftToDo } = await grantReader(pool, reader)
      t.match(leftToDo, service, 'it says for whom')
      await administrator.query(leftToDo)
    }
    const locks = 'select pg_try_advisory_lock(1), pg_advisory_unlock(1), lo_unlink(lo_create(0))'
    t.ok(await pool.query(locks), 'the service keeps what its processes choose their leaders by')
    t.equal((await grantReader(pool, reader)).leftToDo, '', 'and nothing is left to do')
  },
)

const hasPsql = spawnSync('psql', ['--version']).status === 0

t.test('the embedded server asks a login for its password and lets it in nowhere else', async (t) => {
  const dataDirectory = temporaryDirectory(t)
  const postgres = await connectPostgres({ dataDirectory })
  t.teardown(() => postgres.close())
  await migrate(postgres)
  await publishMissing(postgres.pool, readModels, financeViews)
  for (const _ of ['once', 'again']) await askReadersForPassword(postgres.pool, dataDirectory)
  const { password } = await grantReader(postgres.pool, 'awa')
  const { host, port } = new pg.Client(postgres.url)
  const signIn = async (secret: string, database = 'ikw') => {
    const client = new pg.Client({ host, port, database, user: 'awa', password: secret })
    client.on('error', () => undefined)
    await client.connect()
    return client.query('select count(*) from postings').finally(() => client.end())
  }
  const own = new pg.Client(postgres.url)
  await own.connect()
  await own.end()
  t.pass('and the service needs none, as before')
  t.ok(await signIn(password))
  await t.rejects(signIn('guessed'), /password authentication failed/)
  await t.rejects(signIn(password, 'postgres'), /pg_hba.conf rejects/)
  if (!hasPsql) return t.comment('psql is not on this machine: its line was not tried')
  const line = `${psqlLine(postgres.url, 'awa')} --no-psqlrc --tuples-only --command 'select 1 + count(*) from journal'`
  const said = spawnSync('sh', ['-c', line], {
    env: { ...process.env, PGPASSWORD: password },
    encoding: 'utf8',
  })
  t.match(said, { status: 0, stdout: /^\s*1\s*$/ })
})
