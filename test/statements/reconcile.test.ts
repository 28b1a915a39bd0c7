import { randomUUID } from 'node:crypto'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { jsonOf, ikw, settingsOf, type Run, type Settings } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { replayDifferences } from '../support/verifying/replay.ts'
import { startService, type TestService } from '../support/service.ts'
import { reconciliation, statements } from '../../projections/statements.ts'

const rail = 'mobile_money.SN.wave'
const wave = { country: 'SN', operator: 'wave', msisdn: '+221770000000' }

interface Operation {
  readonly reference: string
  readonly amount: number
}

interface Result {
  readonly id: string
  readonly isRepeat: boolean
  readonly result: {
    readonly counts: Readonly<Record<string, number>>
    readonly theirs: number
    readonly ours: number
    readonly drift: number
    readonly unexplained: number
    readonly explained: Readonly<Record<string, number>>
  }
}

let service: TestService
let settings: Settings
let directory: string
/** In the middle of a day, so that no movement is on another one by chance. */
const behindMs = Date.now() - Date.parse('2026-03-10T12:00:00.000Z')

t.before(async () => {
  service = await startService(t, {}, { clock: () => new Date(Date.now() - behindMs) })
  settings = settingsOf(service)
  directory = temporaryDirectory(t)
})

const pool = () => service.service.runtime.postgres.pool

/** Payouts and payments of different amounts, all ended well. */
async function play(count: number, from: number): Promise<void> {
  const amounts = Array.from({ length: count }, (_, index) => from + index)
  await Promise.all(amounts.map((amount) => (amount % 3 === 0 ? collected(amount) : paidOut(amount))))
  const settled = () =>
    pool().query<{ count: number }>(
      `select count(*)::int as count from read.journal where account = $1 and amount between $2 and $3`,
      [`provider:${rail}`, from, from + count - 1],
    )
  await eventually(settled, ({ rows }) => rows[0]!.count === count)
  // A payout is known to have been paid before it was submitted, where somebody says so.
  const played = () => operations(from, from + count - 1)
  await eventually(played, ({ length }) => length === count)
  const { store, reads } = service.service.runtime.dependencies
  await reads.reached(await store.head(), 10_000)
}

async function paidOut(amount: number): Promise<void> {
  const destination = { type: 'mobile_money', ...wave }
  const { body } = await service.post('/api/v1/payouts', { amount, currency: 'XOF', destination })
  await service.post('/api/test/payouts/callback', { payout_id: body['id'], status: 'paid' })
}

async function collected(amount: number): Promise<void> {
  const order = { amount, currency: 'XOF', transaction_country: 'SN' }
  const { body } = await service.post('/api/v1/payment-intents', order)
  const method = { type: 'mobile_money', mobile_money: wave }
  await service.post(`/api/v1/payment-intents/${String(body['id'])}/confirm`, { payment_method: method })
  await service.post('/api/test/mobile-money/callback', {
    payment_intent_id: body['id'],
    status: 'succeeded',
  })
}

/** What the simulated operator has in its own records, with its own sign. */
async function operations(from: number, to: number): Promise<readonly Operation[]> {
  const { rows } = await pool().query<Operation>(
    `select reference, case when kind = 'collection' then amount else -amount end as amount from sandbox_operations
     where state ->> 'state' = 'succeeded' and method ->> 'operator' = 'wave' and amount between $1 and $2 order by amount`,
    [from, to],
  )
  return rows
}

interface Line extends Operation {
  readonly fee?: number
  readonly day?: number
}

function csv(lines: readonly Line[]): string {
  const rows = lines.map(
    ({ reference, amount, fee = 0, day = 10 }) => `${reference},${amount},${fee},${day}/03/2026 12:00`,
  )
  return ['reference,amount,fee,date', ...rows, ''].join('\n')
}

function file(text: string): string {
  const path = join(directory, `${randomUUID()}.csv`)
  writeFileSync(path, text)
  return path
}

const reconcile = (path: string, ...more: readonly string[]): Promise<Run> =>
  ikw(settings, 'reconcile', '--rail', rail, '--sandbox', '--statement', path, '--json', ...more)

t.test('a statement that agrees is matched to the franc, and a file is imported once', async (t) => {
  await play(9, 1_000)
  const [header, ...lines] = csv(await operations(1_000, 1_008))
    .trimEnd()
    .split('\n')
  const path = file([`${header},\u001bSolde`, ...lines.map((line) => `${line},7`)].join('\n'))
  const said = await reconcile(path)
  t.equal(said.code, 0, said.stderr + said.stdout)
  t.match(said.stderr, /Not read: "\S*Solde"/)
  t.notMatch(said.stderr, /\u001b/)
  const first = jsonOf<Result>(said)
  t.match(first.result, { counts: { matched: 9, only_here: 0, only_there: 0 }, drift: 0, unexplained: 0 })
  const events = () =>
    pool().query<{ count: number }>(
      `select count(*)::int as count from events where stream like 'statement-%'`,
    )
  const before = (await events()).rows
  const again = await reconcile(path)
  t.match(jsonOf<Result>(again), { isRepeat: true, id: first.id, result: first.result })
  t.equal(again.code, 0)
  t.same((await events()).rows, before)
  const moved = ['--opening', '0', '--closing', '5']
  t.match(await reconcile(path, ...moved), { code: 2, stderr: /understood otherwise/ })
})

t.test(
  'every kind of error is found, none is invented, and the drift is explained to the franc',
  async (t) => {
    await play(12, 2_000)
    const all = await operations(2_000, 2_011)
    const [amount, fee, day, dropped, doubled, unnamed, ...fine] = all as readonly [Operation, ...Operation[]]
    const stranger = { reference: randomUUID(), amount: 777 }
    const lines: readonly Line[] = [
      { ...amount, amount: amount.amount + Math.sign(amount.amount) * 100 },
      { ...fee!, fee: 25 },
      { ...day!, day: 11 },
      doubled!,
      doubled!,
      { ...unnamed!, reference: '' },
      stranger,
      ...fine,
    ]
    const said = await reconcile(file(csv(lines)))
    t.equal(said.code, 1, said.stderr)
    const { id, result } = jsonOf<Result>(said)
    t.match(result.counts, {
      differs_in_amount: 1,
      differs_in_fee: 1,
      differs_in_day: 1,
      double: 1,
      only_there: 1,
      only_here: 1,
      matched: fine.length + 2,
      settled_before: 9,
    })
    t.equal(result.unexplained, 0)
    t.equal(
      result.drift,
      Object.values(result.explained).reduce((sum, part) => sum + part, 0),
    )
    const { rows } = await pool().query<{ finding: string; operator_reference: string; drift: string }>(
      `select finding, operator_reference, drift from finance.reconciliation
     where statement_id = $1 and finding not in ('matched', 'settled_before')`,
      [id],
    )
    const found = Object.fromEntries(
      rows.map((row) => [row.finding, [row.operator_reference, Number(row.drift)]]),
    )
    t.same(found, {
      differs_in_amount: [amount.reference, Math.sign(amount.amount) * 100],
      differs_in_fee: [fee!.reference, -25],
      differs_in_day: [day!.reference, 0],
      double: [doubled!.reference, doubled!.amount],
      only_there: [stranger.reference, 777],
      only_here: [dropped!.reference, -dropped!.amount],
    })
  },
)

t.test('what the lines do not tell of is named unexplained', async (t) => {
  await play(2, 3_000)
  const lines = await operations(3_000, 3_001)
  const moved = lines.reduce((sum, { amount }) => sum + amount, 0)
  const path = file(csv(lines))
  const said = await reconcile(path, '--opening', '1 000 000', '--closing', String(1_000_000 + moved + 40))
  t.equal(said.code, 1)
  t.match(jsonOf<Result>(said).result, { unexplained: 40 })
})

t.test('fees that an operator takes by its contract differ in nothing, and explain the drift', async (t) => {
  await play(6, 4_000)
  const lines = (await operations(4_000, 4_005)).map((line) => {
    return { ...line, fee: line.amount < 0 ? 25 : Math.floor(line.amount / 100) }
  })
  const fees = (of: readonly Line[]) => of.reduce((sum, { fee = 0 }) => sum + fee, 0)
  const contract = ['--fees', 'in=1%,out=25']
  const path = file(csv(lines))
  const said = await reconcile(path, ...contract)
  const { result } = jsonOf<Result>(said)
  t.match(result, { counts: { matched: 6, differs_in_fee: 0 }, unexplained: 0 }, said.stderr)
  t.equal(result.explained['matched'], 0 - fees(lines))
  t.match(await reconcile(path, '--fees', 'in=2%,out=25'), { code: 2, stderr: /understood otherwise/ })

  await play(6, 4_100)
  const charged = (await operations(4_100, 4_105)).map((line, index) => {
    const fee = line.amount < 0 ? 25 : Math.floor(line.amount / 100)
    return { ...line, fee: index === 4 ? fee + 2 : fee }
  })
  const found = await reconcile(file(csv(charged)), ...contract)
  t.match(jsonOf<Result>(found).result.counts, { matched: 5, differs_in_fee: 1 }, found.stderr)
  t.equal(found.code, 1)
})

t.test('a file that cannot be read imports nothing', async (t) => {
  const count = async () =>
    (await pool().query(`select from events where stream like 'statement-%'`)).rowCount
  const before = await count()
  const good = csv([{ reference: randomUUID(), amount: 5 }])
  const refused: readonly (readonly [string, RegExp])[] = [
    [`${good}${randomUUID()},12.50,0,10/03/2026\n`, /Line 2: "12.50" has more than 0 decimals/],
    ['PK\u0003\u0004\0\0', /bytes of zero/],
    ['reference;amount\n', /no lines/],
    [good.replace('reference', 'referense'), /"referense".*--map reference=/],
  ]
  for (const [text, message] of refused) t.match(await reconcile(file(text)), { code: 2, stderr: message })
  t.match(await reconcile(join(directory, 'nothing.csv')), { code: 2, stderr: /nothing.csv is not there/ })
  t.match(await reconcile(directory), { code: 2, stderr: /is a directory/ })
  const misread = ['--opening', 'abc', '--closing', '5']
  t.match(await reconcile(file(good), ...misread), { code: 2, stderr: /--opening: "abc" is no amount/ })
  t.match(await reconcile(file(good), '--map', 'amount'), { code: 2 })
  const misspelt = { code: 2, stderr: /no field "referense", but reference, amount/ }
  t.match(await reconcile(file(good), '--map', 'referense=reference'), misspelt)
  t.match(await ikw(settings, 'reconcile', '--rail', 'card', '--statement', file(good)), {
    code: 2,
    stderr: /name --currency/,
  })
  const unknown = ['reconcile', '--rail', 'mobile_money.SN.wavee', '--statement', file(good)]
  t.match(await ikw(settings, ...unknown), { code: 2, stderr: /must be a rail such as/ })
  t.equal(await count(), before)
})

t.test('a run that is killed goes on where it stopped, and two at once write each line once', async (t) => {
  const strangers = Array.from({ length: 30_000 }, (_, index) => ({
    reference: randomUUID(),
    amount: 100_000 + index,
  }))
  const path = file(csv([...(await operations(1_000, 1_000)), ...strangers]))
  const findings = async () =>
    (
      await pool().query(
        `select from events where type = 'StatementLineCompared' and data::text like '%only_there%'`,
      )
    ).rowCount!
  const before = await findings()
  const child = spawn(process.execPath, killable(path), {
    env: { PATH: process.env['PATH'], ...settings },
    stdio: 'ignore',
  })
  await eventually(findings, (count) => count > before)
  child.kill('SIGKILL')
  const other = await reconcile(file(csv([{ reference: randomUUID(), amount: 9 }])))
  t.match(other, { code: 2, stderr: /was cut off: run it again first/ }, 'whoever comes between waits')
  const otherwise = ['--time-zone', 'Africa/Lagos']
  const understood = /was imported before, and understood otherwise: run it again with the --map/
  t.match(await reconcile(path, ...otherwise), { code: 2, stderr: understood }, 'one reading for one file')
  const runs = await Promise.all([reconcile(path), reconcile(path)])
  for (const said of runs) t.match(jsonOf<Result>(said).result.counts, { only_there: 30_000 }, said.stderr)
  t.equal((await findings()) - before, 30_000)
  const { rows } = await pool().query<{ lines: number; rows: number }>(
    `select count(distinct line)::int as lines, count(*)::int as rows from finance.reconciliation
     where statement_id = $1 and finding = 'only_there'`,
    [jsonOf<Result>(runs[0]!).id],
  )
  t.same(rows, [{ lines: 30_000, rows: 30_000 }])
})

/** The command line as a process that this test may kill. */
function killable(path: string): string[] {
  const program = new URL('../../services/cli/main.js', import.meta.url).pathname
  return [program, 'reconcile', '--rail', rail, '--sandbox', '--statement', path]
}

t.test('the read models are what the whole log makes of them, and the log keeps its rules', async (t) => {
  t.strictSame(await replayDifferences(service.service.runtime, [statements, reconciliation]), {})
  t.match(await ikw(settings, 'ledger', 'verify'), { code: 0 })
})
