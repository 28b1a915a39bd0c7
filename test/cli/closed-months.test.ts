import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { XmlDocument, XsdValidator } from 'libxml2-wasm'
import pg from 'pg'
import t, { type Test } from 'tap'
import { surviveBrokenConnections } from '../../infra/postgres/client/connect.ts'
import { noteVerifier, parseNote, verifiedSigners } from '../../infra/transparency/signed-note.ts'
import type { Closing, PeriodEvents } from '../../packages/domain/periods/period.ts'
import { verifierKeys } from '../../infra/postgres/transparency/log-keys.ts'
import { closingText } from '../../services/composition/books/close-month.ts'
import { ikw, jsonOf, settingsOf, type Run, type Settings } from '../support/cli.ts'
import { EventStoreDbPeer } from '../support/eventstoredb-peer/peer.ts'
import { makeHistory, type History } from '../support/verifying/history.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { root } from '../support/root.ts'
import { startService, type TestService } from '../support/service.ts'

interface Closed {
  readonly period: string
  readonly state: PeriodEvents['PeriodClosed'] & { readonly status: string }
}

interface Exported {
  readonly file: string
  readonly sha256: string
  readonly isAsClosed: boolean | null
}

let service: TestService
let history: History
let settings: Settings

/** This service lives at the end of a month that is over for whoever closes it. */
const month = '2026-01'
const behindMs = Date.now() - Date.parse('2026-01-31T20:00:00.000Z')

t.before(async () => {
  service = await startService(t, {}, { clock: () => new Date(Date.now() - behindMs) })
  history = await makeHistory(service)
  settings = settingsOf(service)
})

const run = (...parameters: readonly string[]) => ikw(settings, ...parameters)
const runtime = () => service.service.runtime

async function exported(by: Settings, directory: string): Promise<readonly Exported[]> {
  const said = await ikw(by, 'export', 'month', month, '--sandbox', '--directory', directory, '--json')
  t.equal(said.code, 0, said.stderr)
  return jsonOf<readonly Exported[]>(said)
}

const digests = (files: readonly Exported[]) => files.map(({ sha256 }) => sha256)

t.test('what is open can be exported too, and says so', async (t) => {
  const files = await exported(settings, temporaryDirectory(t))
  t.same(
    files.map(({ isAsClosed }) => isAsClosed),
    [null, null, null, null],
  )
})

let closed: Closed['state']

t.test('a month is closed while payouts run, counted and signed', async (t) => {
  const payouts = Array.from({ length: 20 }, () => service.post('/api/v1/payouts', history.payoutOrder))
  const [said, ...answers] = await Promise.all([
    run('period', 'close', month, '--sandbox', '--json'),
    ...payouts,
  ])
  t.equal(said.code, 0, said.stderr)
  t.ok(
    answers.every(({ status }) => status === 201),
    'no payout is refused',
  )
  const [found] = jsonOf<readonly Closed[]>(said)
  closed = found!.state
  t.match(closed, { status: 'closed', timeZone: 'Africa/Dakar', from: '2026-01-01T00:00:00.000Z' })
  const [book] = closed.books
  t.ok(book!.accounts.every(({ opening }) => opening === 0))
  const sum = (of: 'debits' | 'credits') => book!.accounts.reduce((total, one) => total + one[of], 0)
  t.equal(sum('debits'), sum('credits'))

  const { merchantName: _, note, status: __, ...rest } = closed
  const verifiers = (await verifierKeys(runtime().postgres.pool)).map(noteVerifier)
  const parsed = parseNote(note)
  t.equal(verifiedSigners(parsed, verifiers).size, 1, 'the key of the log has signed it')
  const merchant = service.service.credentials.merchant_id
  const signed = (closing: Closing) =>
    closingText(verifiers[0]!.name, { merchant, livemode: false, month }, closing)
  t.equal(parsed.text, signed(rest))
  t.not(parsed.text, signed({ ...rest, books: [{ ...book!, entries: book!.entries + 1 }] }))
})

t.test('closing it again changes nothing', async (t) => {
  const [again] = jsonOf<readonly Closed[]>(await run('period', 'close', month, '--sandbox', '--json'))
  t.same(again!.state, closed)
})

t.test('what comes late is booked on the first open day and says where it belongs', async (t) => {
  const { status, body } = await service.post('/api/v1/payouts', history.payoutOrder)
  t.equal(status, 201)
  await service.post('/api/test/payouts/callback', { payout_id: body['id'], status: 'paid' })
  const { store, reads } = runtime().dependencies
  await reads.reached(await store.head(), 10_000)
  const { rows } = await runtime().postgres.pool.query<{ effective_at: string; belongs_to: string }>(
    `select effective_at, belongs_to from finance.journal
     where subject_id = (select subject_id from finance.payouts where payout_id = $1)`,
    [body['id']],
  )
  await lawOver(t, rows, (row) => {
    t.equal(row.effective_at, '2026-02-01T00:00:00.000Z')
    t.match(row.belongs_to, /^2026-01-31T/)
  })
  t.match(await run('ledger', 'verify'), { code: 0 })
})

let first: readonly Exported[]

t.test('a closed month has the same bytes every time, and they are those that were signed', async (t) => {
  first = await exported(settings, temporaryDirectory(t))
  const again = await exported(settings, temporaryDirectory(t))
  t.same(digests(again), digests(first))
  t.ok(first.every(({ isAsClosed }) => isAsClosed))
  t.same(
    digests(first),
    closed.books.flatMap(({ files }) => files.map(({ sha256 }) => sha256)),
  )
})

t.test('exports at once into one directory leave its files whole, and nothing else', async (t) => {
  const directory = temporaryDirectory(t)
  const [one] = await exported(settings, directory)
  const { pid } = spawnSync(process.execPath, ['--version'])
  writeFileSync(`${one!.file}.partial-${pid}-0123456789abcdef@${hostname()}`, 'what a killed one left')
  const runs = await Promise.all([1, 2, 3, 4].map(() => exported(settings, directory)))
  for (const files of runs) t.ok(files.every(({ isAsClosed }) => isAsClosed))
  t.equal(readdirSync(dirname(one!.file)).length, first.length)
})

t.test('the files say the same as the books', async (t) => {
  const files = await exported(settings, temporaryDirectory(t))
  const text = (name: string) => readFileSync(files.find(({ file }) => file.endsWith(name))!.file, 'utf8')
  const lines = parse<Record<string, string>>(text('journal.csv'), {
    columns: true,
    record_delimiter: '\r\n',
  })
  const total = (of: string) => lines.reduce((sum, line) => sum + Number(line[of]), 0)
  t.equal(total('debit'), total('credit'))
  t.equal(new Set(lines.map(({ entry_id }) => entry_id)).size, closed.books[0]!.entries)
  const settled = lines.find(
    ({ template, subject_id }) => template === 'payout.settle' && subject_id === history.paidPayout,
  )
  t.match(settled, { operator_reference: history.paidPayoutId, transaction_id: /^txn_/, merchant_name: /.+/ })
  const paid = lines.find(({ template }) => template === 'payment.succeeded')!
  const { rows } = await runtime().postgres.pool.query<{ reference: string }>(
    'select operator_reference as reference from finance.payments where subject_id = $1',
    [identityOf(paid['subject_id']!)],
  )
  t.equal(paid['operator_reference'], rows[0]?.reference)
  const rowsOfLines = text('journal.jsonl')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object)
  t.equal(rowsOfLines.length, lines.length)
  t.same(
    Object.fromEntries(Object.entries(rowsOfLines[0]!).map(([name, value]) => [name, String(value)])),
    lines[0],
  )
})

/** `pi_…` or `pay_…` as a UUID. */
function identityOf(id: string): string {
  const hex = id.slice(id.indexOf('_') + 1)
  return id.includes('_') ? hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') : id
}

function minor(amount: string, sign: string): number {
  return Number(amount) * (sign === 'DBIT' ? -1 : 1)
}

t.test(
  'the statement is valid camt.053.001.08, and its entries lead from one balance to the other',
  async (t) => {
    const schema = XmlDocument.fromBuffer(readFileSync(join(root, 'test/fixtures/camt.053.001.08.xsd')))
    const validator = XsdValidator.fromDoc(schema)
    const directory = temporaryDirectory(t)
    const files = await exported(settings, directory)
    const file = files.find(({ file }) => file.endsWith('camt.053.xml'))!.file
    const [merchant] = [service.service.credentials.merchant_id]
    const day = await run(
      'export',
      'day',
      `${merchant}.test.XOF`,
      '2026-01-31',
      '--directory',
      join(directory, 'day'),
      '--json',
    )
    const dayFile = jsonOf<readonly Exported[]>(day).find(({ file }) => file.endsWith('.xml'))!.file
    const ids = new Set<string | undefined>()
    for (const path of [file, dayFile]) {
      const text = readFileSync(path, 'utf8')
      const document = XmlDocument.fromString(text)
      validator.validate(document)
      document.dispose()
      ids.add(/<MsgId>(\w{32})<\/MsgId>/.exec(text)?.[1])
      const amounts = [...text.matchAll(/<Amt Ccy="XOF">(\d+)<\/Amt>\s*<CdtDbtInd>(\w+)</g)].map(
        ([, amount, sign]) => minor(amount!, sign!),
      )
      const [opening = NaN, closing = NaN, ...entries] = amounts
      t.ok(entries.length > 5)
      t.equal(
        entries.reduce((sum, amount) => sum + amount, opening),
        closing,
      )
    }
    t.equal(ids.size, 2, 'each statement has an id of its own')
    const broken = XmlDocument.fromString(readFileSync(file, 'utf8').replace('<Ccy>XOF', '<Ccy>franc'))
    t.throws(() => validator.validate(broken))
    for (const one of [broken, validator, schema]) one.dispose()
  },
)

/** In a database where nothing but the book is another. */
async function namesABookThatIsGone(t: Test, by: Settings): Promise<void> {
  const database = new pg.Pool({ connectionString: by['POSTGRES_URL'] })
  surviveBrokenConnections(database)
  try {
    await database.query(`update events set stream = 'gone-' || stream where stream like 'ledger-%.test.XOF'`)
    const to = ['--directory', temporaryDirectory(t)]
    const said = await ikw(by, 'export', 'month', month, '--sandbox', ...to)
    t.equal(said.code, 1, said.stderr)
    t.match(said.stdout, /balances\.csv is not what was signed when the month was closed/)
    await database.query(`update events set stream = substr(stream, 6) where stream like 'gone-%'`)
  } finally {
    await database.end()
  }
}

t.test('a restored backup and an EventStoreDB have the same bytes', async (t) => {
  const backup = join(temporaryDirectory(t), 'backup')
  t.match(await run('backup', backup), { code: 0 })
  const { url: POSTGRES_URL } = await testDatabase(t)
  const restored = { ...settings, POSTGRES_URL }
  const said = await ikw(restored, 'restore', backup)
  t.equal(said.code, 0, said.stderr)
  t.same(digests(await exported(restored, temporaryDirectory(t))), digests(first))
  await namesABookThatIsGone(t, restored)

  const peer = await EventStoreDbPeer.start()
  t.teardown(() => peer.stop())
  const copied = await ikw(restored, 'events', 'copy', '--from', POSTGRES_URL, '--to', peer.url)
  t.equal(copied.code, 0, copied.stderr)
  const moved = { ...restored, EVENTSTORE_URL: peer.url }
  const files = await exported(moved, temporaryDirectory(t))
  t.same(digests(files), digests(first))
  t.ok(files.every(({ isAsClosed }) => isAsClosed))
})

t.test('a change in a closed month is found by its files', async (t) => {
  const { pool } = runtime().postgres
  const change = (from: number, to: number) =>
    pool.query(
      `update events set data = replace(data::text, '"amount":${from}', '"amount":${to}')::json
       where type = 'EntryPosted' and data ->> 'template' = 'sandbox.topup'`,
    )
  t.ok((await change(1_000_000, 1_000_001)).rowCount)
  const said: Run = await run('export', 'month', month, '--sandbox', '--directory', temporaryDirectory(t))
  t.match(said, { code: 1, stdout: /is not what was signed/ })
  await change(1_000_001, 1_000_000)
  t.same(digests(await exported(settings, temporaryDirectory(t))), digests(first))
})

t.test('a month is opened again with a reason only, takes entries, and is closed again', async (t) => {
  t.match(await run('period', 'reopen', month, '--sandbox', '--by', 'awa'), { code: 2, stderr: /reason/ })
  const why = ['--by', 'awa', '--reason', 'An invoice was missing']
  t.match(await run('period', 'reopen', '2025-12', '--sandbox', ...why), { code: 2, stderr: /never closed/ })
  t.match(await run('period', 'reopen', month, '--sandbox', ...why), { code: 0 })
  const { body } = await service.post('/api/v1/payouts', history.payoutOrder)
  const [again] = jsonOf<readonly Closed[]>(await run('period', 'close', month, '--sandbox', '--json'))
  t.ok(again!.state.books[0]!.entries > closed.books[0]!.entries)
  const files = await exported(settings, temporaryDirectory(t))
  t.ok(files.every(({ isAsClosed }) => isAsClosed))
  const csv = files.find(({ file }) => file.endsWith('journal.csv'))!.file
  t.match(readFileSync(csv, 'utf8'), String(body['id']))
  t.match(await run('ledger', 'verify'), { code: 0 })
})

t.test('what is not over, or no month, is not closed', async (t) => {
  t.match(await run('period', 'close', '2999-01', '--sandbox'), { code: 2, stderr: /is not over/ })
  t.match(await run('period', 'close', '2026-13', '--sandbox'), { code: 2 })
  t.match(await run('period', 'close', month, '--sandbox', '--time-zone', 'Mars/Olympus'), { code: 2 })
})
