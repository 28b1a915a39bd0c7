import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import type { StoredEvent } from '../../packages/kernel/ports.ts'
import { lawOver } from '../support/law.ts'
import { root } from '../support/root.ts'
import { flipped, openSignedBackup } from '../support/signed-backup.ts'

t.test('whoever forges a backup cannot make a verifier look away', async (t) => {
  const { directory, backup, verify, standalone, changed } = await openSignedBackup(t)

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

  await t.test('fits on two pages, as its recipe does', async (t) => {
    const linesOf = (file: string) => readFileSync(join(root, file), 'utf8').trimEnd().split('\n').length
    t.ok(linesOf('docs/audit-verifier.mjs') <= 150)
  })
})

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
