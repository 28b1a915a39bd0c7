import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { cosigner } from '../../infra/transparency/signed-note.ts'
import type { StoredEvent } from '../../packages/kernel/ports.ts'
import { runGo, withoutGo } from '../support/verifying/go.ts'
import { root } from '../support/root.ts'
import { flipped, openSignedBackup, withoutDigest } from '../support/verifying/signed-backup.ts'

const execute = promisify(execFile)

type Change = (events: StoredEvent[]) => readonly unknown[]

const amountOf = (event: StoredEvent) => (event.data as { money?: { amount: number } }).money

/** What somebody may do to a log who may write to its database, and what an auditor says of it. */
const tamperings: Readonly<Record<string, { readonly change: Change; readonly says: RegExp }>> = {
  'an amount': {
    change: (events) => {
      const event = events.find((one) => amountOf(one) !== undefined)!
      Object.assign(amountOf(event)!, { amount: 1 })
      return events
    },
    says: /event .* is not what was notarised/,
  },
  'the order of two events': {
    change: (events) => [...events.slice(0, 4), events[5], events[4], ...events.slice(6)],
    says: /was notarised as leaf 5, and stands as leaf 4/,
  },
  'an event removed': {
    change: (events) => events.toSpliced(6, 1),
    says: /was notarised as leaf 7, and stands as leaf 6/,
  },
  'the last event removed': {
    change: (events) => events.slice(0, -1),
    says: /1 events are missing at the end/,
  },
  'an event added': {
    change: (events) => [
      ...events.slice(0, 3),
      { ...events[3]!, id: '0190a1b2-0000-7000-8000-00000000ffff' },
      ...events.slice(3),
    ],
    says: /is not what was notarised/,
  },
  'an event added at the end': {
    change: (events) => {
      const last = events.at(-1)!
      const written = { ...last.metadata, at: '2026-01-01T00:00:00.000Z' }
      const added = { ...last, id: '0190a1b2-0000-7000-8000-00000000ffff', metadata: written }
      return [...events, { ...added, revision: last.revision + 1, position: last.position + 1 }]
    },
    says: /^event \S+ .* was written at 2026-01-01T00:00:00.000Z, and was never signed$/,
  },
}

/** What is done to the first row of a table of the tree. */
const treeTamperings: Readonly<
  Record<string, { table: string; change: (line: string) => readonly string[]; says: RegExp }>
> = {
  'a tile': {
    table: 'log_tiles',
    change: (line) => [flipped(line)],
    says: /^tile 0\/0 is not what its \d+ hashes make it$/,
  },
  'a tile removed': { table: 'log_tiles', change: () => [], says: /^tile 0\/0 is missing$/ },
  'a leaf': { table: 'log_bundles', change: (line) => [flipped(line)], says: /^event \S+ .* is not what/ },
  'the root of a checkpoint': {
    table: 'log_checkpoints',
    change: (line) => [line.replace(/\\n[\w+/]{43}=\\n/, `\\n${'A'.repeat(43)}=\\n`)],
    says: /^the checkpoint over \d+ events does not hold: the signature of \S+ does not hold$/,
  },
}

t.test('an auditor with a backup and an old checkpoint', async (t) => {
  const { directory, backup, service, run, verify, standalone, changed } = await openSignedBackup(t)
  const noted = join(directory, 'noted.txt')

  await t.test('finds nothing wrong with the log as it is', async (t) => {
    const { code, report } = await verify(backup, '--note', noted)
    t.equal(code, 0)
    t.strictSame([report.findings, report.books.violations, report.unsigned], [[], [], 0])
    t.ok(report.events > 20, `${report.events} events`)
    t.match(readFileSync(noted, 'utf8'), /^localhost:.*\n\d+\n.{44}\n\n— /)
    t.equal((await verify(backup, '--since', noted)).code, 0)
    t.match((await standalone(backup, noted)).stdout, /Everything is what was signed/)
  })

  for (const [what, { change, says }] of Object.entries(tamperings)) {
    await t.test(`names ${what}`, async (t) => {
      const copy = changed(what, 'events.ndjson.gz', (lines) =>
        change(lines.map((line) => JSON.parse(line) as StoredEvent)).map((event) => JSON.stringify(event)),
      )
      const { code, report } = await verify(copy)
      t.equal(code, 1)
      await t.rejects(standalone(copy), /Command failed/)
      t.ok(
        report.findings.some(({ problem }) => says.test(problem)),
        JSON.stringify(report.findings[0]),
      )
    })
  }

  for (const [what, { table, change, says }] of Object.entries(treeTamperings)) {
    await t.test(`names ${what}`, async (t) => {
      const copy = changed(what, 'bookkeeping.ndjson.gz', (lines) => {
        const first = lines.findIndex((line) => line.startsWith(`${table} `))
        return lines.toSpliced(first, 1, ...change(lines[first]!))
      })
      const { code, report } = await verify(copy)
      t.equal(code, 1)
      t.match(report.findings[0]?.problem, says)
    })
  }

  await t.test(
    "takes a directory that was made by the recipe in Go, with Go's own tree",
    { skip: withoutGo },
    async (t) => {
      const made = join(directory, 'made-in-go')
      const [key = '', madeRoot] = (await runGo('./make', backup, made)).split('\n')
      const { code, report } = await verify(made, '--key', key)
      t.strictSame([code, report.findings, report.unsigned], [0, [], 0])
      t.equal(madeRoot, (await verify(backup)).report.root, 'it has the root that the service has signed')
      const verifier = [join(root, 'docs/audit-verifier.mjs'), made, key]
      t.match((await execute(process.execPath, verifier)).stdout, /Everything is what was signed/)
      const events = join(made, 'events.ndjson.gz')
      const text = gunzipSync(readFileSync(events)).toString()
      writeFileSync(events, gzipSync(text.replace('"amount":5000', '"amount":5001')))
      t.match((await verify(made, '--key', key)).report.findings, [{ problem: /is not what was notarised/ }])
    },
  )

  await t.test('names a log whose signatures were taken away', async (t) => {
    const copy = changed('no signatures', 'bookkeeping.ndjson.gz', (lines) =>
      lines.filter((line) => !/^log_(checkpoints|tiles|bundles|cosignatures) /.test(line)),
    )
    const { code, report } = await verify(copy)
    t.equal(code, 1)
    t.match(report.findings, [{ problem: /^nobody has signed any of the \d+ events$/ }])
    await t.rejects(standalone(copy), /Command failed/)
  })

  await t.test('names some of very many changed events, and counts the others', async (t) => {
    const changedCount = 30
    const copy = changed('many', 'events.ndjson.gz', (lines) =>
      lines.map((line, index) => (index < changedCount ? line.replace('"actor":"', '"actor":"x') : line)),
    )
    const { code, report } = await verify(copy)
    t.equal(code, 1)
    t.equal(report.findings.length, 21)
    t.match(report.findings.at(-1), { problem: `and 10 more, up to leaf ${report.events - 1}` })
    t.equal(report.found, changedCount + report.books.violations.length)
    const { stdout } = await run('audit', 'verify', copy)
    t.match(stdout, `${report.found} findings:`)
  })

  await t.test('tells of changed bookkeeping beside a witness that has signed nothing', async (t) => {
    const copy = changed('other bookkeeping', 'bookkeeping.ndjson.gz', (lines) =>
      lines.filter((line) => !line.startsWith('checkpoints ')),
    )
    const { verifierKey } = cosigner('witness.example/w1', randomBytes(32), () => new Date())
    const { report } = await verify(copy, '--witness', verifierKey)
    t.match(report.findings, [{ problem: /has signed none/ }, { problem: /^bookkeeping\.ndjson\.gz is not/ }])
  })

  await t.test('takes what only the tree vouches for as signed by nobody', async (t) => {
    let kept = 0
    const copy = changed('newest signatures gone', 'bookkeeping.ndjson.gz', (lines) => {
      const [first, ...newer] = lines.filter((line) => line.startsWith('log_checkpoints '))
      kept = Number(/"size":(\d+)/.exec(first!)![1])
      return lines.filter((line) => !newer.includes(line))
    })
    const manifest = join(copy, 'manifest.json')
    const anHourLater = new Date(Date.now() + 3_600_000).toISOString()
    writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(/"at": ?"[^"]*"/, `"at":"${anHourLater}"`))
    const { code, report } = await verify(copy)
    t.equal(code, 1)
    t.match(report.findings, [{ leaf: kept, problem: /was written at \S+, and was never signed$/ }])
    t.equal(report.unsigned, report.events - kept)
    await t.rejects(standalone(copy), /Command failed/)
    withoutDigest(copy)
    t.equal((await verify(copy, '--since', noted)).code, 0, 'a checkpoint that was kept vouches for them')
  })

  await t.test('names commitments that are gone though they were signed', async (t) => {
    const copy = changed('no leaves', 'bookkeeping.ndjson.gz', (lines) =>
      lines.filter((line) => !/^log_(tiles|bundles) /.test(line)),
    )
    const { code, report } = await verify(copy)
    t.equal(code, 1)
    t.match(report.findings, [{ problem: /^the tree has 0 leaves, and \d+ events were signed$/ }])
  })

  await t.test(
    'says which line is no event, which file is cut off, and what a list of contents hides',
    async (t) => {
      const damages: Readonly<Record<string, string>> = {
        'no JSON': '{"stream": nonsense',
        'no event': '{"stream":null,"revision":"x"}',
      }
      for (const [what, line] of Object.entries(damages)) {
        const copy = changed(what, 'events.ndjson.gz', (lines) => lines.with(4, line))
        const { code, stderr } = await run('audit', 'verify', copy)
        t.match([code, stderr], [2, /^Nothing was checked: line 5 of \S+events\.ndjson\.gz is no event\.\n$/])
        const refused = await standalone(copy).catch((error: unknown) => error as { stdout: string })
        t.match(refused.stdout, /^Not verified: line 5 of events\.ndjson\.gz is no event$/m)
      }
      const cut = changed('cut off', 'events.ndjson.gz', (lines) => lines)
      const file = join(cut, 'events.ndjson.gz')
      writeFileSync(file, readFileSync(file).subarray(0, 2_000))
      const { code, stderr } = await run('audit', 'verify', cut)
      t.match([code, stderr], [2, /^Nothing was checked: \S+events\.ndjson\.gz cannot be read: .*\n$/])

      const told = changed('other contents', 'events.ndjson.gz', (lines) => lines)
      const manifest = join(told, 'manifest.json')
      writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(/"position": ?\d+/, '"position":3'))
      t.match((await verify(told)).report.findings, [{ problem: /manifest\.json tells of \d+ up to 3$/ }])
    },
  )

  await t.test('takes a last line without a line feed', async (t) => {
    const copy = changed('no line feed', 'events.ndjson.gz', (lines) => lines)
    const file = join(copy, 'events.ndjson.gz')
    writeFileSync(file, gzipSync(gunzipSync(readFileSync(file)).toString().trimEnd()))
    const { code, report } = await verify(copy)
    t.equal(code, 0, JSON.stringify(report.findings))
  })

  await t.test('reads rows of an older backup, which are in no order', async (t) => {
    const copy = changed('no order', 'bookkeeping.ndjson.gz', (lines) => lines.toReversed())
    const { code, report } = await verify(withoutDigest(copy))
    t.equal(code, 0, JSON.stringify(report.findings))
  })

  await t.test('checks the tree that a service shows, with nothing but its address', async (t) => {
    const { code, report } = await verify(service.url, '--since', noted)
    t.strictSame([code, report.findings], [0, []])
    const other = join(directory, 'other-story.txt')
    writeFileSync(other, readFileSync(noted, 'utf8').replace(/\n.{44}\n/, `\n${'A'.repeat(43)}=\n`))
    t.equal((await verify(service.url, '--since', other)).code, 1)
    const nobody = await run('audit', 'verify', 'http://127.0.0.1:1')
    t.match(nobody, { code: 2, stderr: /^Nothing was checked: .* cannot be read: .*\n$/ })
  })

  await t.test('refuses a checkpoint of another story, and a key that has signed nothing', async (t) => {
    const forged = join(directory, 'forged.txt')
    writeFileSync(forged, readFileSync(noted, 'utf8').replace(/\n\d+\n/, '\n3\n'))
    t.equal((await verify(backup, '--since', forged)).code, 1)
    const stranger = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
    const { code, report } = await verify(backup, '--key', stranger)
    t.equal(code, 1)
    t.match(report.findings[0]!.problem, /no key of the log has signed it/)
  })
})
