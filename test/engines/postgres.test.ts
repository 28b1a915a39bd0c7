import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { connectPostgres } from '../../infra/postgres/client/connect.ts'
import { restoreSymlinks } from '../../infra/postgres/server/binaries.ts'
import { startEmbeddedPostgres } from '../../infra/postgres/server/embedded.ts'
import { Script } from '../support/processes/child-process.ts'
import { killConnection } from '../support/processes/postmaster.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'

const directory = temporaryDirectory(t)

function serverPid(path = directory): number {
  return Number.parseInt(readFileSync(join(path, 'postgres', 'postmaster.pid'), 'utf8'))
}

t.test('a stopped server keeps its data', async (t) => {
  const first = await connectPostgres({ dataDirectory: directory })
  await first.pool.query('create table kept_when_stopped as select 42 as answer')
  await first.close()
  t.throws(() => serverPid(), { code: 'ENOENT' })
  const second = await connectPostgres({ dataDirectory: directory })
  t.teardown(() => second.close())
  t.same((await second.pool.query('select answer from kept_when_stopped')).rows, [{ answer: 42 }])
})

t.test('what killed first starts have left is removed, however many start again', async (t) => {
  const [old, young] = ['old', 'young'].map((name) => join(directory, `postgres.unfinished-${name}`))
  for (const path of [old!, young!]) {
    mkdirSync(join(path, 'base'), { recursive: true })
    writeFileSync(join(path, 'base', 'file'), '')
  }
  const before = new Date(Date.now() - 3_600_000)
  utimesSync(old!, before, before)
  const servers = await Promise.all([1, 2].map(() => startEmbeddedPostgres({ directory })))
  for (const server of servers) await server.stop()
  const left = readdirSync(directory).filter((name) => name.includes('unfinished'))
  t.strictSame(left, ['postgres.unfinished-young'], 'somebody may be writing that one')
  rmSync(young!, { recursive: true })
})

t.test('the server of a process that was killed is taken over', async (t) => {
  const script = new Script(t, 'embedded-process', [directory])
  const url = await script.line()
  const pid = serverPid()
  await script.kill()
  const server = await startEmbeddedPostgres({ directory })
  t.equal(server.url, url)
  t.equal(serverPid(), pid)
  await server.stop()
  t.throws(() => serverPid(), { code: 'ENOENT' })
})

t.test('a server that was killed itself starts again with its data', async (t) => {
  const script = new Script(t, 'embedded-process', [directory])
  const before = await connectPostgres({ url: await script.line(), dataDirectory: '' })
  await before.pool.query('create table kept_when_killed as select 42 as answer')
  await script.kill()
  process.kill(serverPid(), 'SIGKILL')
  await before.close()
  const after = await connectPostgres({ dataDirectory: directory })
  t.teardown(() => after.close())
  t.same((await after.pool.query('select answer from kept_when_killed')).rows, [{ answer: 42 }])
})

t.test('a process that got the number of a dead server does not keep a new one from starting', async (t) => {
  const first = await startEmbeddedPostgres({ directory })
  const lock = join(directory, 'postgres', 'postmaster.pid')
  const [, ...rest] = readFileSync(lock, 'utf8').split('\n')
  await first.stop()
  const { uid, gid } = statSync(join(directory, 'postgres'))
  const stranger = spawn('sleep', ['600'], { uid, gid })
  t.teardown(() => stranger.kill())
  await once(stranger, 'spawn')
  writeFileSync(lock, [stranger.pid, ...rest].join('\n'))
  const second = await startEmbeddedPostgres({ directory })
  t.not(serverPid(), stranger.pid)
  await second.stop()
})

t.test('of two starts in a new directory both use one server, and the last to stop stops it', async (t) => {
  const directory = temporaryDirectory(t)
  const start = () => startEmbeddedPostgres({ directory })
  const [first, second] = await Promise.all([start(), start()])
  t.equal(first.url, second.url)
  t.same(readdirSync(directory).sort(), ['postgres', 'postgres.log', 'socket'])
  const pid = serverPid(directory)
  await first.stop()
  t.equal(serverPid(directory), pid)
  await second.stop()
  t.throws(() => serverPid(directory), { code: 'ENOENT' })
})

t.test('after a crash the first to stop leaves the server to those who still use it', async (t) => {
  const [first, second] = await Promise.all([1, 2].map(() => startEmbeddedPostgres({ directory })))
  const pid = serverPid()
  await killConnection(directory)
  await first!.stop()
  t.equal(serverPid(), pid)
  await second!.stop()
  t.throws(() => serverPid(), { code: 'ENOENT' })
})

t.test('a data directory may have a long path, below one that only its owner may enter', async (t) => {
  const directory = join(temporaryDirectory(t), 'private'.repeat(20))
  mkdirSync(directory, { mode: 0o700 })
  const { pool, url, close } = await connectPostgres({ dataDirectory: directory })
  t.teardown(close)
  const socketDirectory = new URL(url).searchParams.get('host') ?? ''
  t.teardown(() => rmSync(socketDirectory, { recursive: true }))
  t.notOk(socketDirectory.startsWith(directory))
  t.same((await pool.query('show listen_addresses')).rows, [{ listen_addresses: '' }])
  t.same((await pool.query('show fsync')).rows, [{ fsync: 'on' }])
})

t.test('symlinks that npm left out are made', async (t) => {
  const directory = temporaryDirectory(t)
  mkdirSync(join(directory, 'native', 'lib'), { recursive: true })
  const source = 'native/lib/libpq.so.5.18'
  const links = [
    { source, target: 'native/lib/libpq.so' },
    { source, target: 'native/lib/libpq.so.5' },
  ]
  writeFileSync(join(directory, 'native', 'pg-symlinks.json'), JSON.stringify(links))
  writeFileSync(join(directory, 'native', 'lib', 'libpq.so.5.18'), 'library')
  writeFileSync(join(directory, 'native', 'lib', 'libpq.so.5'), 'already there')
  await restoreSymlinks(directory)
  t.equal(readlinkSync(join(directory, 'native', 'lib', 'libpq.so')), 'libpq.so.5.18')
  t.ok(lstatSync(join(directory, 'native', 'lib', 'libpq.so.5')).isFile())
  await t.resolves(restoreSymlinks(directory))
})

t.test('a server that cannot be reached is named in one sentence without its password', async (t) => {
  const url = 'postgres://ikw:secret@127.0.0.1:1/ledger'
  const message = 'PostgreSQL at 127.0.0.1:1/ledger cannot be reached: connect ECONNREFUSED 127.0.0.1:1'
  await t.rejects(connectPostgres({ url, dataDirectory: '' }), { message })
})

t.test('numbers arrive as exact integers or not at all, and times as RFC 3339', async (t) => {
  const { pool } = await testDatabase(t)
  const { rows } = await pool.query(`
    select 9007199254740991::bigint as big, sum(amount::bigint) as sum, null::bigint as nothing,
      timestamptz '2026-01-02 03:04:05.678901+01' as time, date '2026-01-02' as day
    from unnest(array[1, 2]) as amount`)
  const time = '2026-01-02T02:04:05.678Z'
  t.same(rows, [{ big: 9_007_199_254_740_991, sum: 3, nothing: null, time, day: '2026-01-02' }])
  for (const inexact of ['9007199254740992::bigint', '9007199254740991::bigint + 0.5', `'NaN'::numeric`]) {
    await t.rejects(pool.query(`select ${inexact}`), { name: 'RangeError' })
  }
})
