import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import t, { type Test } from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { connectPostgres } from '../../infra/postgres/client/connect.ts'
import { financeViews } from '../../infra/postgres/finance/finance.ts'
import { endOverdueReaders, grantReader } from '../../infra/postgres/finance/roles.ts'
import { migrate } from '../../infra/postgres/migrate.ts'
import { publishMissing } from '../../infra/postgres/read-models/publication.ts'
import { prepareHome } from '../../infra/postgres/server/home.ts'
import { readModels } from '../../projections/index.ts'
import { openLog } from '../../services/composition/observing/log.ts'
import { watchReaders } from '../../services/projector/overdue-readers.ts'
import { ikw, jsonOf } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'

const name = `idle_${process.pid}`

/** A database with views, and a login that reads them. */
async function openViews(t: Test) {
  const database = await testDatabase(t)
  await publishMissing(database.pool, readModels, financeViews)
  const { password } = await grantReader(database.pool, name)
  t.teardown(async () => {
    await database.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${name}'`,
    )
    await database.pool.query(`drop owned by ${name}; drop role ${name}`)
  })
  const { host, port, database: called } = new pg.Client(database.url)
  const sessions = [1, 2].map(() => {
    const client = new pg.Client({ host, port, ...(called && { database: called }), user: name, password })
    client.on('error', () => undefined)
    return client
  })
  for (const session of sessions) await session.connect()
  t.teardown(() => Promise.all(sessions.map((session) => session.end().catch(() => undefined))))
  const [first, second] = sessions as [pg.Client, pg.Client]
  return { ...database, first, second }
}

const limits = { idleMs: 60_000, transactionMs: 15 * 60_000 }

/** Statements end with the session. */
async function keepAsking(session: pg.Client): Promise<void> {
  for (;;) await session.query('select count(*) from payouts')
}

const overdue = [
  {
    what: 'leaves open',
    limit: { idleMs: 50 },
    begin: 'set idle_in_transaction_session_timeout = 0; begin; select count(*) from payouts',
    goOn: async () => undefined,
  },
  {
    what: 'asks for hours by one statement',
    limit: { transactionMs: 50 },
    begin: 'set statement_timeout = 0',
    goOn: (session: pg.Client) => session.query('select count(*), pg_sleep(3600) from payouts'),
  },
  {
    what: 'keeps open by short statements',
    limit: { transactionMs: 50 },
    begin: 'begin isolation level repeatable read; select count(*) from payouts',
    goOn: keepAsking,
  },
]

for (const { what, limit, begin, goOn } of overdue) {
  t.test(`a transaction that a login ${what} is ended, whatever it sets`, async (t) => {
    const { pool, first, second } = await openViews(t)
    await first.query(begin)
    // The connection's error comes first.
    const ended = new Promise<void>((resolve) => first.once('end', resolve))
    const going = goOn(first).catch((error: unknown) => error)
    t.equal(await endOverdueReaders(pool, limits), 0, 'not at once')
    const log = await openLog(readConfiguration({ LOG_LEVEL: 'silent' }))
    const watch = watchReaders({ pool, log, everyMs: 20, limits: { ...limits, ...limit } })
    t.teardown(() => watch.close())
    await ended
    await going
    t.ok(await second.query('select count(*) from payouts'), 'who has no transaction open goes on')
    const { rows } = await pool.query<{ held: number }>(
      `select count(*)::int as held from pg_stat_activity where usename = $1 and backend_xmin is not null`,
      [name],
    )
    t.equal(rows[0]!.held, 0, 'and holds nothing up')
  })
}

/** Why it may stay allowed stands in docs/finance.md. */
const allowed: Readonly<Record<string, string>> = {
  'a report that takes longer': `set statement_timeout = '10min'`,
  'a block that does nothing else': 'do $$ begin perform count(*) from finance.payouts; end $$',
  'listening, to nobody': 'listen ikw',
  'telling nobody': `notify ikw, 'mine'`,
}

t.test('what a login may do besides', async (t) => {
  const { first } = await openViews(t)
  await lawOver(t, Object.entries(allowed), async ([what, text]) => {
    t.ok(await first.query(text), what)
  })
})

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** A server that asks everybody for a password by SCRAM, over TCP. */
async function startExternal(t: Test): Promise<string> {
  const dataDirectory = temporaryDirectory(t)
  const embedded = await connectPostgres({ dataDirectory })
  await migrate(embedded)
  await publishMissing(embedded.pool, readModels, financeViews)
  await embedded.pool.query(`create role ikw_service superuser login password 'a secret of the service'`)
  await embedded.close()
  const home = await prepareHome(dataDirectory)
  writeFileSync(join(home.cluster, 'pg_hba.conf'), 'host all all 127.0.0.1/32 scram-sha-256\n')
  const port = await freePort()
  const settings = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=']
  const parameters = ['-D', home.cluster, ...settings.flatMap((setting) => ['-c', setting])]
  const server = home.user.run(home.binaries.postgres, parameters, { stdio: 'ignore' })
  const ended = once(server, 'exit')
  t.teardown(async () => {
    server.kill('SIGINT')
    await ended
  })
  return `postgres://ikw_service:a%20secret%20of%20the%20service@127.0.0.1:${port}/ikw`
}

const hasPsql = spawnSync('psql', ['--version']).status === 0

t.test('on an external server, the line of `finance connect` signs in by SCRAM', async (t) => {
  const url = await startExternal(t)
  const signIn = async (connection: pg.ClientConfig, text: string) => {
    const client = new pg.Client(connection)
    client.on('error', () => undefined)
    await client.connect()
    return client.query<{ count: string }>(text).finally(() => client.end())
  }
  await eventually(
    () =>
      signIn({ connectionString: url }, 'select 1').then(
        () => true,
        () => false,
      ),
    (isUp) => isUp,
  )
  const key = { MASTER_KEY: randomBytes(32).toString('base64') }
  const settings = { POSTGRES_URL: url, DATA_DIR: temporaryDirectory(t), ...key }
  const granted = await ikw(settings, 'finance', 'grant', 'awa', '--json')
  const { password, leftToDo } = jsonOf<{ password: string; leftToDo: string }>(granted)
  t.equal(leftToDo, '')
  const { connect: line } = jsonOf<{ connect: string }>(
    await ikw(settings, 'finance', 'connect', 'awa', '--json'),
  )
  const [, host, port, database, user] = /^psql "host=(\S+) port=(\d+) dbname=(\S+) user=(\S+)"$/.exec(line)!
  const connection = { host: host!, port: Number(port), database: database!, user: user! }
  const { rows } = await signIn({ ...connection, password }, 'select count(*) from postings')
  t.strictSame(rows, [{ count: '0' }])
  await t.rejects(
    signIn({ ...connection, password: 'guessed' }, 'select 1'),
    /password authentication failed/,
  )
  if (!hasPsql) return t.comment('psql is not on this machine: its line was not tried')
  const said = spawnSync(
    'sh',
    ['-c', `${line} --no-psqlrc --tuples-only --command 'select count(*) from journal'`],
    {
      env: { ...process.env, PGPASSWORD: password },
      encoding: 'utf8',
    },
  )
  t.match(said, { status: 0, stdout: /^\s*0\s*$/ }, said.stderr)
})
