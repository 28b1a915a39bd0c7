import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import type { StoredEvent } from '../../packages/kernel/ports.ts'
import { ikw } from '../support/cli.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { root } from '../support/root.ts'
import { flipped, openSignedBackup, withoutDigest } from '../support/verifying/signed-backup.ts'

t.test('whoever forges a backup cannot make a verifier look away', async (t) => {
  const { directory, backup, run, verify, standalone, changed } = await openSignedBackup(t)

  await t.test('takes nothing that is no checkpoint for the one that was noted', async (t) => {
    const texts = ['', '<!doctype html>\n<h1>502</h1>\n', 'x\n07\nx\n\n— x AAAA\n', 'x\nNaN\nx\n\n- a b\n']
    await lawOver(t, texts, async (text) => {
      const file = join(directory, 'no-checkpoint.txt')
      writeFileSync(file, text)
      const refused = await standalone(backup, file).catch((error: unknown) => error as { stdout: string })
      t.match(refused.stdout, /^Not verified: a checkpoint has no size$/m)
      t.equal((await verify(backup, '--since', file)).code, 1)
    })
  })

  await t.test('takes no event for new because nobody can say how old it is', async (t) => {
    const times: Readonly<Record<string, unknown>> = { 'no time': undefined, nonsense: 'x', 'a number': 1 }
    await lawOver(t, Object.entries(times), async ([what, at]) => {
      const copy = changed(`a last event with ${what}`, 'events.ndjson.gz', (lines) => {
        const last = JSON.parse(lines.at(-1)!) as StoredEvent
        const { revision, position, metadata } = last
        const added = {
          ...last,
          revision: revision + 1,
          position: position + 1,
          metadata: { ...metadata, at },
        }
        return [...lines, JSON.stringify(added)]
      })
      const { code, report } = await verify(copy)
      t.equal(code, 1)
      t.ok(
        report.findings.some(({ problem }) => /was never signed$/.test(problem)),
        JSON.stringify(report),
      )
      const refused = await standalone(copy).catch((error: unknown) => error as { stdout: string })
      t.match(refused.stdout, /^leaf \d+: event \S+ of \S+ was never signed$/m)
    })
  })

  await t.test('takes a signature over no number of events for none', async (t) => {
    const copy = changed('a size that is none', 'bookkeeping.ndjson.gz', (lines) => {
      const note = JSON.stringify('x\nNaN\nx\n\n- a b\n')
      return [
        ...lines.filter((line) => !line.startsWith('log_checkpoints ')),
        `log_checkpoints {"size":1,"note":${note}}`,
      ]
    })
    t.equal((await verify(copy)).code, 1)
    const refused = await standalone(copy).catch((error: unknown) => error as { stdout: string })
    t.match(refused.stdout, /^Not verified: a checkpoint has no size$/m)
  })

  await t.test('hides nothing behind two events that have changed places', async (t) => {
    const first = firstSigned(backup)
    const later = first + 10
    const copy = changed('both', 'events.ndjson.gz', (lines) => {
      const other = { ...(JSON.parse(lines[later]!) as StoredEvent), type: 'Another' }
      return [
        ...lines.slice(0, first),
        lines[first + 1]!,
        lines[first]!,
        ...lines.slice(first + 2, later),
        JSON.stringify(other),
        ...lines.slice(later + 1),
      ]
    })
    const tile = (lines: readonly string[]) =>
      lines.map((line) => (line.startsWith('log_tiles ') ? flipped(line) : line))
    const { code, report } = await verify(changed('and a tile', 'bookkeeping.ndjson.gz', tile, copy))
    t.equal(code, 1)
    t.match(report.findings, [
      { leaf: first, problem: /was notarised as leaf \d+, and stands as leaf \d+$/ },
      { leaf: first + 1, problem: /was notarised as leaf \d+, and stands as leaf \d+$/ },
      { leaf: later, problem: /is not what was notarised$/ },
      { problem: /^tile 0\/0 is not what its \d+ hashes make it$/ },
    ])
    t.equal(report.findings.length, 4, 'what follows from them is not told as well')
  })

  await t.test('hides no other change behind an event that is gone', async (t) => {
    const copy = changed('gone and changed', 'events.ndjson.gz', (lines) => {
      const other = { ...(JSON.parse(lines[20]!) as StoredEvent), type: 'Another' }
      return lines.with(20, JSON.stringify(other)).toSpliced(6, 1)
    })
    const { report } = await verify(copy)
    const leaves = report.findings.map(({ leaf }) => leaf).filter((leaf) => leaf !== undefined)
    t.strictSame(leaves, [6, 19])
  })

  await t.test('stops nobody by what nothing can be committed to', async (t) => {
    const copy = changed('a salt that is none', 'events.ndjson.gz', (lines) => {
      const event = JSON.parse(lines[10]!) as StoredEvent
      const other = { ...event, metadata: { ...event.metadata, salt: 5 } }
      return lines.with(10, JSON.stringify(other))
    })
    const { code, report } = await verify(copy)
    t.equal(code, 1)
    t.match(report.findings, [{ leaf: 10, problem: /is not what was notarised$/ }])
  })

  await t.test('adds no event from times to come', async (t) => {
    const copy = changed('an event of 2099', 'events.ndjson.gz', (lines) => {
      const last = lines.map((line) => JSON.parse(line) as StoredEvent).findLast(isOfNoSandbox)!
      const { position } = JSON.parse(lines.at(-1)!) as StoredEvent
      const metadata = { ...last.metadata, at: '2099-01-01T00:00:00.000Z' }
      return [...lines, JSON.stringify({ ...last, position: position + 1, metadata })]
    })
    const { report } = await verify(copy)
    t.ok(
      report.findings.some(({ problem }) => /was written at 2099-\S+, and was never signed$/.test(problem)),
      JSON.stringify(report),
    )
    const file = join(copy, 'manifest.json')
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as { readonly events: number }
    writeFileSync(file, JSON.stringify({ ...manifest, events: manifest.events + 1 }))
    t.match((await standalone(copy)).stdout, /the last \d+ not signed yet\)[^]*\nEverything but those/)
  })

  await t.test('leaves nothing out of the bookkeeping, which nobody signs', async (t) => {
    const copy = changed('no keys of persons', 'bookkeeping.ndjson.gz', (lines) =>
      lines.filter((line) => !line.startsWith('subject_keys ')),
    )
    const { code, report } = await verify(copy)
    t.equal(code, 1)
    t.match(report.findings, [{ problem: 'bookkeeping.ndjson.gz is not what manifest.json tells of' }])
    const refused = { code: 2, stderr: /its bookkeeping.ndjson.gz is not what its manifest.json tells of/ }
    t.match(await restored(t, copy), refused)
  })

  await t.test('tells of no other events in the manifest', async (t) => {
    const copy = changed('another digest', 'events.ndjson.gz', (lines) => lines)
    const file = join(copy, 'manifest.json')
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as object
    writeFileSync(file, JSON.stringify({ ...manifest, sha256: '0'.repeat(64) }))
    t.match((await verify(copy)).report.findings, [
      { problem: 'events.ndjson.gz has another sha256 than manifest.json tells of' },
    ])
    writeFileSync(file, JSON.stringify({ ...manifest, format: 2 }))
    t.match(await run('audit', 'verify', copy), { code: 2, stderr: /only a later version of this program/ })
  })

  await t.test('has no line of the bookkeeping that is no row', async (t) => {
    const note = JSON.stringify('x\n1\nx\n\n- a b\n')
    const lines = [
      'nonsense',
      'answers',
      'answers null',
      'answers {"key":1',
      ' {"key":1}',
      `log_checkpoints {"size":1,"note":${note},"note":${note}}`,
      'sandbox_operations {"state":{"paid":true,"p\\u0061id":false}}',
    ]
    await lawOver(t, lines, async (line) => {
      const where = `no row ${lines.indexOf(line)}`
      const copy = changed(where, 'bookkeeping.ndjson.gz', (all) => [line, ...all])
      const file = join(copy, 'manifest.json')
      const { bookkeeping: _, ...manifest } = JSON.parse(readFileSync(file, 'utf8')) as Record<
        string,
        unknown
      >
      writeFileSync(file, JSON.stringify(manifest))
      const says = { code: 2, stderr: /line 1 of \S+bookkeeping.ndjson.gz is no row of a table/ }
      t.match(await run('audit', 'verify', copy), says, line)
      t.match(await restored(t, copy), says, line)
      const refused = await standalone(copy).catch((error: unknown) => error as { stdout: string })
      t.match(refused.stdout, /^Not verified: (a line of bookkeeping|a member is named twice)/m, line)
    })
  })

  await t.test('has no row of the tree without what makes it one', async (t) => {
    const lines = [
      'log_checkpoints {"size":1}',
      'log_checkpoints {"note":"x"}',
      'log_bundles {"index":0}',
      'log_bundles {"commitments":"\\\\x00","index":"0"}',
      'log_bundles {"commitments":"\\\\x00","index":0,"positions":5}',
      'log_tiles {"level":0,"index":0,"hashes":null}',
      'log_keys {"id":1}',
      'log_cosignatures {"size":1,"witness":"x"}',
    ]
    await lawOver(t, lines, async (line) => {
      const where = `no row of the tree ${lines.indexOf(line)}`
      const copy = withoutDigest(changed(where, 'bookkeeping.ndjson.gz', (all) => [line, ...all]))
      const table = line.split(' ')[0]!
      t.match(await run('audit', 'verify', copy), { code: 2, stderr: new RegExp(`no row of ${table}`) }, line)
    })
  })

  await t.test('names no member twice, of which others would read the other one', async (t) => {
    const copy = changed('twice', 'events.ndjson.gz', (lines) =>
      lines.with(10, lines[10]!.replace('{', '{"type":"PayoutPaid",')),
    )
    const says = { code: 2, stderr: /line 11 of \S+events.ndjson.gz is no event/ }
    t.match(await run('audit', 'verify', copy), says)
    t.match(await restored(t, copy), says)
    const refused = await standalone(copy).catch((error: unknown) => error as { stdout: string })
    t.match(refused.stdout, /^Not verified: line 11 of events.ndjson.gz is no event$/m)
  })

  await t.test('stops nobody by a line without an end', async (t) => {
    const copy = changed('a long line', 'events.ndjson.gz', (lines) => [...lines, 'x'.repeat(65_000_000)])
    t.match(await run('audit', 'verify', copy), {
      code: 2,
      stderr: /a line of \S+ is longer than any of ours/,
    })
  })

  await t.test('fits on two pages, as its recipe does', async (t) => {
    const lines = readFileSync(join(root, 'docs/audit-verifier.mjs'), 'utf8').split('\n')
    // Neither empty nor a comment.
    t.ok(lines.filter((line) => !/^\s*(\/\/|\/\*\*|$)/.test(line)).length <= 150)
  })
})

/** By a program of its own, into an empty database. */
async function restored(t: Test, backup: string) {
  const { url } = await testDatabase(t)
  const MASTER_KEY = randomBytes(32).toString('base64')
  return ikw({ POSTGRES_URL: url, DATA_DIR: temporaryDirectory(t), MASTER_KEY }, 'restore', backup)
}

/** The leaf that the first checkpoint ends with: who swaps it with the next changes what is signed. */
function firstSigned(backup: string): number {
  const lines = gunzipSync(readFileSync(join(backup, 'bookkeeping.ndjson.gz')))
    .toString()
    .split('\n')
  const sizes = lines
    .filter((line) => line.startsWith('log_checkpoints '))
    .map((line) => (JSON.parse(line.slice('log_checkpoints '.length)) as { readonly size: number }).size)
  return Math.min(...sizes) - 1
}

/** The clock of a merchant in the sandbox may be ahead. */
function isOfNoSandbox({ metadata }: StoredEvent): boolean {
  return (metadata as { readonly livemode?: boolean }).livemode !== false
}
