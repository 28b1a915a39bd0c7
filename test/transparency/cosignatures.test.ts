import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { vouchedKeys } from '../../infra/postgres/transparency/log-keys.ts'
import { cosigner, parseNote, signatureLine } from '../../infra/transparency/signed-note.ts'
import { auditWholeLog } from '../../services/notary/audit-log.ts'
import { ikw, jsonOf } from '../support/cli.ts'
import { openSignedBackup, withoutDigest } from '../support/verifying/signed-backup.ts'

const seed = createHash('sha256').update('witness').digest()
const witness = cosigner('witness.example/w1', seed, () => new Date('2026-11-25T00:00:00Z'))

interface Checkpoint {
  readonly size: number
  readonly note: string
}

const signed = ({ note }: Checkpoint) => signatureLine(witness.sign(parseNote(note).text))
/** As it would be over a log that tells this witness another story. */
const otherRoot = ({ note }: Checkpoint) =>
  signatureLine(witness.sign(parseNote(note).text.replace(/\n.{44}\n$/, `\n${'A'.repeat(43)}=\n`)))

const cases: Readonly<Record<string, { line: (one: Checkpoint) => string; size?: number; says: RegExp }>> = {
  'over another root': {
    line: otherRoot,
    says: /^the cosignature of witness\.example\/w1 over \d+ events does not hold, .* another one$/,
  },
  'that is none': {
    line: () => '— witness.example/w1 nonsense!\n',
    says: /w1 over \d+ .* it cannot be read: /,
  },
  'by somebody else': {
    line: (one) => signed(one).replace('w1', 'w2'),
    says: /of witness\.example\/w1 over \d+ events does not hold, and it is signed as witness\.example\/w2$/,
  },
  'over no checkpoint': {
    line: signed,
    size: 1_000_000,
    says: /over 1000000 events .* no checkpoint over them$/,
  },
}

t.test('cosignatures', async (t) => {
  const { backup, service, verify, changed } = await openSignedBackup(t)
  const lines = gunzipSync(readFileSync(join(backup, 'bookkeeping.ndjson.gz')))
    .toString()
    .split('\n')
  const kept = lines.filter((line) => line.startsWith('log_checkpoints '))
  const [first, second] = kept.map((line) => JSON.parse(line.slice(line.indexOf('{'))) as Checkpoint)
  const row = (size: number, line: string) =>
    `log_cosignatures ${JSON.stringify({ size, witness: witness.name, line })}`
  const trusting = ['--witness', witness.verifierKey]
  const copy = changed('good ones', 'bookkeeping.ndjson.gz', (lines) => [
    row(second!.size, signed(second!)),
    ...lines,
    row(first!.size, signed(first!)),
  ])
  const good = withoutDigest(copy)

  await t.test('are found right, and those of unknown witnesses are told', async (t) => {
    const { code, report } = await verify(good, ...trusting)
    const through = { [witness.name]: second!.size }
    t.match({ code, report }, { code: 0, report: { findings: [], cosignatures: { checked: 2, through } } })
    const unknown = await verify(good)
    t.match(unknown, {
      code: 0,
      report: { cosignatures: { checked: 0, unchecked: [/^witness\.example\/w1\+/] } },
    })
  })

  await t.test('are missed where a known witness has signed nothing', async (t) => {
    const { code, report } = await verify(backup, ...trusting)
    t.equal(code, 1)
    t.match(report.findings, [{ problem: `${witness.name} has signed none of the checkpoints` }])
  })

  await t.test(
    'of which a service shows those of one checkpoint, and no witness is blamed for it',
    async (t) => {
      const said = await ikw({}, 'audit', 'verify', service.url, ...trusting)
      t.match(said, { code: 0, stdout: `not cosigned by ${witness.name}, which may be some seconds behind` })
      const told = await ikw({}, 'audit', 'verify', service.url, ...trusting, '--json')
      t.match(jsonOf(told), { findings: [], cosignatures: { silent: [witness.name] } })
    },
  )

  for (const [what, { line, size = first!.size, says }] of Object.entries(cases)) {
    await t.test(`one ${what} is named`, async (t) => {
      const copy = changed(what, 'bookkeeping.ndjson.gz', (lines) => [...lines, row(size, line(first!))])
      const { code, report } = await verify(copy, ...trusting)
      t.equal(code, 1)
      t.match(report.findings, [{ problem: says }, { problem: / has signed none of the checkpoints$/ }])
    })
  }

  await t.test('are looked at by the auditor of the service', async (t) => {
    const { postgres, dependencies, asStored: stored } = service.service.runtime
    const { pool } = postgres
    const { store, vault, clock: now } = dependencies
    const audited = {
      ...{ pool, stored, store, now, witnesses: [witness.verifierKey] },
      verifierKeys: () => vouchedKeys({ pool, vault }),
    }
    const { signal } = new AbortController()
    const problems = async () => (await auditWholeLog(audited, { share: 1, signal })).problems
    const keep = (size: number, line: string) =>
      pool.query('insert into log_cosignatures (size, witness, line) values ($1, $2, $3)', [
        size,
        witness.name,
        line,
      ])
    await keep(first!.size, signed(first!))
    t.strictSame(await problems(), [])
    await keep(second!.size, otherRoot(second!))
    t.match(await problems(), [cases['over another root']!.says])
  })
})
