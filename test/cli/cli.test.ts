import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { startService as start } from '../../services/all-in-one/start.ts'
import { ikw, jsonOf, openCommandLine, type Row, type Run } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory } from '../support/postgres.ts'

const { service, history, settings, run, rows } = await openCommandLine()
const pool = () => service.service.runtime.postgres.pool

/** A few processes at a time. */
async function inTurns<Case>(
  cases: readonly Case[],
  work: (one: Case) => Promise<Run>,
): Promise<readonly Run[]> {
  const runs: Run[] = []
  for (let start = 0; start < cases.length; start += 4) {
    runs.push(...(await Promise.all(cases.slice(start, start + 4).map(work))))
  }
  return runs
}

function refused(t: Test, { code, stdout, stderr }: Run, what: RegExp): void {
  t.equal(code, 2)
  t.equal(stdout, '')
  t.match(stderr, what)
  t.notMatch(stderr, /\n {4}at /, 'no stack trace')
}

t.test(
  'a key is shown once, opens the service, and is closed at once when it is rolled or revoked',
  async (t) => {
    const created = jsonOf<Row>(
      await run(
        'keys',
        'create',
        '--name',
        'books',
        '--scopes',
        'balance.read,payouts.read',
        '--environment',
        'sandbox',
        '--json',
      ),
    )
    t.match(created, {
      key: /^ik_test_[\w-]{43}$/,
      environment: 'sandbox',
      scopes: ['balance.read', 'payouts.read'],
    })
    const balance = (key: unknown) => service.get('/api/v1/balance', { key: String(key) })
    t.equal((await balance(created['key'])).status, 200)

    const rolled = jsonOf<Row>(await run('keys', 'roll', String(created['id']), '--json'))
    t.match(rolled, { name: 'books', revoked: created['id'], key: /^ik_test_/, scopes: created['scopes'] })
    await eventually(
      () => balance(created['key']),
      ({ status }) => status === 401,
    )
    t.equal((await balance(rolled['key'])).status, 200)
    t.match(await run('keys', 'roll', String(created['id'])), { code: 2, stderr: /rolled already/ })

    t.match(await run('keys', 'revoke', String(rolled['id'])), { code: 0, stdout: /is revoked/ })
    t.match(await run('keys', 'revoke', String(rolled['id'])), { code: 0 }, 'twice')
    await eventually(
      () => balance(rolled['key']),
      ({ status }) => status === 401,
    )

    const listed = await rows('keys', 'list')
    t.match(
      listed.find(({ id }) => id === rolled['id']),
      { name: 'books', status: 'revoked', last4: String(rolled['key']).slice(-4) },
    )
    t.notMatch(JSON.stringify(listed), String(rolled['key']), 'the key itself is kept nowhere')
    t.strictSame(await rows('keys', 'list', '--merchant', '0190a1b2-0000-7000-8000-000000000001'), [])
  },
)

t.test('an app token may have an end and a list of addresses', async (t) => {
  const created = jsonOf<Row>(
    await run(
      'keys',
      'create',
      '--name',
      'app',
      '--scopes',
      '*',
      '--environment',
      'live',
      '--app',
      '--expires',
      '2099-01-31',
      '--addresses',
      '10.0.0.0/8,192.0.2.1',
      '--json',
    ),
  )
  t.match(created, { key: /^ik_app_live_/, environment: 'live' })
  const found = (await rows('keys', 'list')).find(({ id }) => id === created['id'])
  t.match(found, { expires_at: '2099-01-31T00:00:00.000Z', addresses: ['10.0.0.0/8', '192.0.2.1'] })
  t.equal(
    (await service.get('/api/v1/balance', { key: String(created['key']) })).status,
    403,
    'from another address',
  )
})

t.test('what cannot be is one sentence and exit code 2', async (t) => {
  const key = ['keys', 'create', '--name', 'x', '--scopes', '*', '--environment', 'live']
  const replaced = (option: string, value: string) => key.with(key.indexOf(option) + 1, value)
  const cases: readonly (readonly [RegExp, readonly string[]])[] = [
    [/Usage: ikw/, []],
    [/unknown option/, ['keys', 'list', '--nonsense']],
    [/--name/, ['keys', 'create', '--scopes', '*', '--environment', 'live']],
    [/"nonsense" is none/, replaced('--scopes', 'nonsense')],
    [/sandbox, live/, replaced('--environment', 'production')],
    [/in the future/, [...key, '--expires', '2020-01-01']],
    [/neither an address/, [...key, '--addresses', '10.0.0.0/99']],
    [/no merchant/, [...key, '--merchant', '0190a1b2-0000-7000-8000-000000000001']],
    [/no key nonsense/, ['keys', 'revoke', 'nonsense']],
    [/Name a delivery/, ['deliveries', 'retry']],
    [/no such delivery/, ['deliveries', 'retry', '999999']],
    [/whole number/, ['deliveries', 'list', '--limit', '0']],
    [/id of a event/, ['deliveries', 'list', '--event', 'po_1']],
    [/no stream payout-/, ['events', 'show', 'po_0190a1b2000070008000000000000001']],
    [/no read model/, ['projections', 'rebuild', 'nonsense']],
    [/Nothing of payout-1 is parked/, ['parked', 'retry', 'payout-1']],
    [/--to is not after --from/, ['export', 'journal', '--from', '2026-02-01', '--to', '2026-01-01']],
    [/--to is not after --from/, ['export', 'journal', '--from', '2026-02-01', '--to', '2026-02-01']],
    [/a day such as/, ['export', 'journal', '--from', '2026-13-01', '--to', '2026-02-01']],
    [/a day such as/, ['export', 'journal', '--from', '2026-02-30', '--to', '2026-03-01']],
    [/a day such as/, ['export', 'journal', '--from', '2026-02-29T24:00:00Z', '--to', '2026-03-01']],
  ]
  const runs = await inTurns(cases, ([, parameters]) => run(...parameters))
  cases.forEach(([what], index) => refused(t, runs[index]!, what))
})

t.test('a missing service, database or file is one sentence and exit code 2', async (t) => {
  const nothing = join(temporaryDirectory(t), 'nothing')
  refused(t, await ikw({ DATA_DIR: nothing }, 'ledger', 'verify'), /no database in .*make run/)
  refused(t, await ikw({ DATA_DIR: nothing }, 'demo'), /no .*credentials\.json: .*make run/)
  t.notOk(existsSync(nothing), 'nothing is made')
  refused(t, await ikw({ ...settings, PORT: '1' }, 'demo'), /No service answers at http:\/\/localhost:1/)
  refused(
    t,
    await ikw({ ...settings, POSTGRES_URL: 'postgres://127.0.0.1:1/x' }, 'parked', 'list'),
    /cannot be reached/,
  )
  refused(t, await ikw({ ...settings, PORT: 'x' }, 'parked', 'list'), /PORT is "x"/)
})

t.test('every group and command explains itself', async (t) => {
  const groups = ['keys', 'deliveries', 'events', 'ledger', 'projections', 'parked', 'export', 'demo']
  const runs = await inTurns(groups, (group) => run(group, '--help'))
  groups.forEach((group, index) =>
    t.match(runs[index], { code: 0, stdout: new RegExp(`Usage: ikw ${group}`) }),
  )
  t.match(await run('keys', 'create', '--help'), { code: 0, stdout: /--scopes <scopes>/ })
})

t.test('the events of a resource are shown by its public id and by its stream', async (t) => {
  const shown = jsonOf<{ stream: string; events: readonly Row[] }>(
    await run('events', 'show', history.paidPayout, '--json'),
  )
  t.match(
    shown.events.map(({ type }) => type),
    ['PayoutRequested', 'PayoutSent', 'PayoutPaid'],
  )
  t.match(shown.events[1], {
    revision: 1,
    position: Number,
    time: String,
    actor: /^(policy|key):/,
    data: { money: {} },
  })
  t.match((await run('events', 'show', shown.stream)).stdout, /^0 {2}PayoutRequested .*\n {3}\{/)
})

t.test('deliveries are listed by endpoint, event and status, and made due again', async (t) => {
  const listed = await rows('deliveries', 'list', '--endpoint', history.deafEndpoint, '--status', 'pending')
  t.ok(listed.length > 0)
  t.match(listed[0], {
    id: Number,
    event: /^evt_/,
    endpoint: history.deafEndpoint,
    attempts: 1,
    last_status: 500,
    due_at: String,
  })
  const [delivery] = listed as readonly [Row]
  t.equal((await rows('deliveries', 'list', '--event', String(delivery['event']))).length, 1)
  t.match((await run('deliveries', 'list', '--limit', '1')).stdout, /^id +event/)

  t.strictSame(jsonOf(await run('deliveries', 'retry', String(delivery['id']), '--json')), { retried: 1 })
  const attempts = async () =>
    (
      await pool().query<{ attempts: number }>('select attempts from deliveries where id = $1', [
        delivery['id'],
      ])
    ).rows[0]!
  await eventually(attempts, (row) => row.attempts === 2)
  const others = listed.length
  t.strictSame(jsonOf(await run('deliveries', 'retry', '--endpoint', history.deafEndpoint, '--json')), {
    retried: others,
  })
})

t.test('the demo shows money come and go, with signed webhooks and every posting', async (t) => {
  const told = await run('demo', '--json')
  t.equal(told.code, 0, told.stderr)
  const story = jsonOf<{
    webhooks: readonly Row[]
    postings: readonly Row[]
    balance: Record<string, number>
  }>(told)
  t.strictSame(story.webhooks.map(({ type }) => type).sort(), ['payment_intent.succeeded', 'payout.paid'])
  t.equal(story.balance['after_payment']! - story.balance['before']!, 24_500)
  t.match(
    new Set(story.postings.map(({ template }) => template)),
    new Set(['payment.succeeded', 'payout.hold', 'payout.submit', 'payout.settle']),
  )
  t.match(story.postings[0], {
    account: 'provider:mobile_money.SN.orange_money',
    debit: 25_000,
    credit: null,
    balance: Number,
  })
})

t.test('without a service the embedded database is started for as long as a command takes', async (t) => {
  const directory = temporaryDirectory(t)
  const alone = { DATA_DIR: directory }
  const configuration = readConfiguration({ ...alone, PORT: '0', RATE_LIMIT: 'off', LOG_LEVEL: 'error' })
  const running = await start(configuration)
  const told = await ikw({ ...alone, PORT: String(running.port) }, 'demo')
  t.match(told, { code: 0, stdout: /webhook +not shown: .*EGRESS_ALLOW=127\.0\.0\.0\/8/ })
  t.match(await ikw(alone, 'ledger', 'verify'), { code: 0 }, 'while the service runs')
  await running.close()

  const isRunning = () => existsSync(join(directory, 'postgres', 'postmaster.pid'))
  t.notOk(isRunning())
  const created = jsonOf<Row>(
    await ikw(alone, 'keys', 'create', '--name', 'late', '--scopes', '*', '--environment', 'live', '--json'),
  )
  t.match(jsonOf(await ikw(alone, 'keys', 'list', '--json')), [{ id: created['id'], name: 'late' }])
  t.match(await ikw(alone, 'projections', 'rebuild', 'journal'), { code: 0 })
  t.match(await ikw(alone, 'ledger', 'replay'), { code: 0 })
  t.notOk(isRunning())
})
