import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { noteSigner, writeNote } from '../../infra/transparency/signed-note.ts'
import { closingText } from '../../services/composition/books/close-month.ts'
import type { PeriodEvents } from '../../packages/domain/periods/period.ts'
import { ikw, jsonOf, settingsOf, type Settings } from '../support/cli.ts'
import { makeHistory } from '../support/verifying/history.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { root } from '../support/root.ts'
import { startService, type TestService } from '../support/service.ts'
import { allSigned, withoutDigest, type AuditReport } from '../support/verifying/signed-backup.ts'
import { writeAnew, type Written } from '../support/event-store/written-anew.ts'

type Closed = { -readonly [Key in keyof PeriodEvents['PeriodClosed']]: PeriodEvents['PeriodClosed'][Key] }

const month = '2026-01'
/** The service lives at the end of a month that is over for whoever closes it. */
const behindMs = Date.now() - Date.parse('2026-01-31T20:00:00.000Z')
const directory = temporaryDirectory(t)
const backup = join(directory, 'backup')
/** Whoever has the key of the log can sign whatever they like. */
const signer = noteSigner('ledger.example/log', createHash('sha256').update('a key that was lost').digest())
let settings: Settings
let service: TestService
let payoutOrder: Awaited<ReturnType<typeof makeHistory>>['payoutOrder']

t.before(async () => {
  service = await startService(t, {}, { clock: () => new Date(Date.now() - behindMs) })
  settings = settingsOf(service)
  ;({ payoutOrder } = await makeHistory(service))
  t.equal((await ikw(settings, 'period', 'close', month, '--sandbox')).code, 0)
  await allSigned(service)
  t.equal((await ikw(settings, 'backup', backup)).code, 0)
})

async function verify(place: string, ...more: readonly string[]) {
  const result = await ikw({}, 'audit', 'verify', place, '--key', signer.verifierKey, '--json', ...more)
  const { findings, books } = jsonOf<AuditReport>(result)
  const problems = [
    ...findings.map(({ problem }) => problem),
    ...books.violations.map(({ rule, problem }) => `${rule}: ${problem}`),
  ]
  return { code: result.code, problems }
}

async function standalone(place: string) {
  const verifier = join(root, 'docs/audit-verifier.mjs')
  return promisify(execFile)(process.execPath, [verifier, place, signer.verifierKey]).then(
    () => 'fine',
    (error: unknown) => (error as { stdout: string }).stdout,
  )
}

interface Forgery {
  readonly change?: (event: Written) => void
  readonly before?: (closed: Closed) => void
  /** After it was signed. */
  readonly after?: (closed: Closed) => void
}

/** The whole history signed anew, with its closed months, after these changes. */
function forged(what: string, { change, before, after }: Forgery): string {
  let known: { readonly size: number; readonly root: string }[] = []
  const place = writeAnew({
    from: backup,
    to: join(directory, what.replaceAll(' ', '-')),
    signer,
    change(event, tree) {
      known = [...known, tree]
      change?.(event)
      if (event.type !== 'PeriodClosed') return
      const [, merchant = '', mode] = /^period-(.*)\.(live|test)\./.exec(event.stream)!
      const closed = event.data as Closed
      closed.checkpoint = known.find(({ size }) => size === closed.checkpoint.size)!
      before?.(closed)
      const { timeZone, from, to, books, checkpoint } = closed
      const closing = { timeZone, from, to, books, checkpoint }
      const text = closingText(signer.name, { merchant, livemode: mode === 'live', month }, closing)
      closed.note = writeNote({ text, signatures: [signer.sign(text)] })
      after?.(closed)
    },
  })
  return withoutDigest(place)
}

t.test('a closed month that says what its entries say is found right', async (t) => {
  const fine = forged('as it was', {})
  t.strictSame(await verify(fine), { code: 0, problems: [] })
  t.equal(await standalone(fine), 'fine')
})

const books = (closed: Closed, more: object) => [{ ...closed.books[0]!, ...more }, ...closed.books.slice(1)]

interface Told extends Forgery {
  readonly says: RegExp
  /** By the verifier of docs/audit.md too. */
  readonly isSeenAlone?: true
}

const forgeries: Readonly<Record<string, Told>> = {
  'a book that was changed after it was signed': {
    after: (closed) => (closed.books = books(closed, { entries: 1 })),
    says: /^event \S+ \(PeriodClosed, period-\S+\.2026-01 .* its note is not about what it says$/,
    isSeenAlone: true,
  },
  'a note that another key has signed': {
    after: (closed) => {
      const stranger = noteSigner('ledger.example/log', createHash('sha256').update('another').digest())
      const text = closed.note.slice(0, closed.note.indexOf('\n\n') + 1)
      closed.note = writeNote({ text, signatures: [stranger.sign(text)] })
    },
    says: /PeriodClosed.* no key of the log has signed it$/,
    isSeenAlone: true,
  },
  'a note that is none': {
    after: (closed) => Object.assign(closed, { note: 7 }),
    says: /PeriodClosed.* does not hold/,
    isSeenAlone: true,
  },
  'a checkpoint of another history': {
    before: (closed) => (closed.checkpoint = { ...closed.checkpoint, root: 'A'.repeat(43) + '=' }),
    says: /PeriodClosed.* names a root over \d+ events that is not the signed one$/,
  },
  'a checkpoint of events that come later': {
    before: (closed) => (closed.checkpoint = { ...closed.checkpoint, size: 100_000 }),
    says: /PeriodClosed.* names a checkpoint over 100000 events, and stands before them$/,
  },
  'one entry more': {
    before: (closed) => (closed.books = books(closed, { entries: closed.books[0]!.entries + 1 })),
    says: /^months: period-\S+\.2026-01 has \d+ entries in XOF, and was closed with \d+$/,
  },
  'a balance that is another one': {
    before(closed) {
      const [first, ...others] = closed.books[0]!.accounts
      closed.books = books(closed, { accounts: [{ ...first!, closing: first!.closing + 1 }, ...others] })
    },
    says: /^months: period-\S+ has \S+ in XOF with .*, and was closed with /,
  },
  'an account that is left out': {
    before: (closed) => (closed.books = books(closed, { accounts: closed.books[0]!.accounts.slice(1) })),
    says: /^months: period-\S+ has \S+ in XOF with .*, and was closed without it$/,
  },
  'another file of balances': {
    before(closed) {
      const files = closed.books[0]!.files.map((file) => ({ ...file, sha256: '0'.repeat(64) }))
      closed.books = books(closed, { files })
    },
    says: /^months: balances\.csv of period-\S+ in XOF has the digest \w{64}, and was closed with 0{64}$/,
  },
  'a month without books': {
    after: (closed) => Object.assign(closed, { books: null }),
    says: /PeriodClosed.* its note is not about what it says$/,
  },
  'a book without accounts': {
    before: (closed) => (closed.books = books(closed, { accounts: null })),
    says: /^months: period-\S+\.2026-01 does not say what was closed: /,
  },
  'an entry without postings': {
    change({ stream, data }) {
      if (stream.startsWith('ledger-') && 'postings' in data) Object.assign(data, { postings: [null] })
    },
    says: /^log: ledger-\S+ at \d+ is no entry: /,
  },
  'an amount of the month changed': {
    change({ stream, data }) {
      const { postings } = data as { postings?: { amount: number }[] }
      if (stream.startsWith('ledger-')) for (const posting of postings ?? []) posting.amount *= 2
    },
    says: /^months: period-\S+ has \S+ in XOF with /,
  },
}

for (const [what, { says, isSeenAlone, ...forgery }] of Object.entries(forgeries)) {
  t.test(`names ${what}`, async (t) => {
    const place = forged(what, forgery)
    const { code, problems } = await verify(place)
    t.equal(code, 1)
    t.ok(
      problems.some((problem) => says.test(problem)),
      problems.slice(0, 5).join('\n'),
    )
    if (isSeenAlone) t.match(await standalone(place), /closed month|no key of yours|Not verified/)
  })
}

const exportedFiles = async (place: string) => {
  const run = await ikw(settings, 'export', 'month', month, '--sandbox', '--directory', place, '--json')
  return jsonOf<readonly { readonly file: string }[]>(run).map(({ file }) => file)
}

t.test('the files of a closed month are those that were signed, or are named', async (t) => {
  const fine = join(directory, 'as-it-was')
  const files = join(directory, 'files')
  const [file] = await exportedFiles(files)
  t.strictSame(await verify(fine, '--files', files), { code: 0, problems: [] })
  appendFileSync(file!, ' ')
  writeFileSync(join(files, 'balances.csv'), '')
  const { code, problems } = await verify(fine, '--files', files)
  t.equal(code, 1)
  t.match(problems, [
    /journal\.csv is another one than was signed$/,
    /balances\.csv is no file of a closed month$/,
  ])
  t.match(await ikw({}, 'audit', 'verify', fine, '--files', join(directory, 'none')), { code: 2 })
})

t.test('a file that is missing, or only a link, is named', async (t) => {
  const fine = join(directory, 'as-it-was')
  const files = join(directory, 'incomplete')
  const [journal, lines] = await exportedFiles(files)
  rmSync(journal!)
  t.match(await verify(fine, '--files', files), {
    code: 1,
    problems: [/journal\.csv is missing: \S+\.test\.2026-01 was closed with it$/],
  })
  renameSync(lines!, join(directory, 'elsewhere'))
  symlinkSync(join(directory, 'elsewhere'), lines!)
  t.match(await verify(fine, '--files', files), {
    code: 1,
    problems: [/journal\.jsonl is a link, and no file$/, /journal\.csv is missing/],
  })
  const empty = join(directory, 'empty')
  mkdirSync(empty)
  t.match(await ikw({}, 'audit', 'verify', fine, '--files', empty), {
    code: 2,
    stderr: /has no files: `ikw export month` writes them/,
  })
})

t.test('what an earlier closing has signed does not hold any more', async (t) => {
  const files = join(directory, 'superseded')
  await exportedFiles(files)
  const verifyWith = async (name: string) => {
    const place = join(directory, name)
    await allSigned(service)
    t.equal((await ikw(settings, 'backup', place)).code, 0)
    const { stdout } = await ikw({}, 'audit', 'verify', place, '--files', files, '--json')
    return (JSON.parse(stdout) as AuditReport).findings.map(({ problem }) => problem)
  }
  const reasons = ['--by', 'awa', '--reason', 'A payout was missing']
  t.equal((await ikw(settings, 'period', 'reopen', month, '--sandbox', ...reasons)).code, 0)
  const opened = await verifyWith('opened')
  const openedAgain = /is the one of \S+2026-01, which was opened again since$/
  t.match(opened, [openedAgain, openedAgain, openedAgain, openedAgain])
  t.equal(opened.length, 4)
  t.equal((await service.post('/api/v1/payouts', payoutOrder)).status, 201)
  t.equal((await ikw(settings, 'period', 'close', month, '--sandbox')).code, 0)
  const closed = await verifyWith('closed again')
  t.ok(closed.length >= 3, closed.join('\n'))
  t.match(closed[0], /is the one of \S+2026-01, which was closed again since, with another one$/)
  await exportedFiles(files)
  t.strictSame(await verifyWith('as closed again'), [])
})
