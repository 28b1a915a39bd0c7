import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Test } from 'tap'
import { jsonOf, openCommandLine } from '../cli.ts'
import { eventually } from '../eventually.ts'
import { temporaryDirectory } from '../postgres.ts'
import { root } from '../root.ts'
import type { TestService } from '../service.ts'

const execute = promisify(execFile)

/** What `ikw audit verify` prints of a backup. */
export interface AuditReport {
  readonly root: string
  readonly events: number
  readonly unsigned: number
  readonly found: number
  readonly findings: readonly { readonly leaf?: number; readonly problem: string }[]
  readonly books: { readonly violations: readonly { readonly rule: string; readonly problem: string }[] }
}

type Change = (lines: readonly string[]) => readonly string[]

/** The first byte that is written in hex becomes another. */
export const flipped = (line: string) =>
  line.replace(/\\\\x(..)/, (_, byte: string) => `\\\\x${byte === '00' ? '01' : '00'}`)

/** Takes out of its manifest what not everybody writes who writes a backup: the digests. */
export function withoutDigest(backup: string): string {
  const file = join(backup, 'manifest.json')
  const whole = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
  const { bookkeeping: _, sha256: __, ...manifest } = whole
  writeFileSync(file, JSON.stringify(manifest))
  return backup
}

/** Waits until the notary has signed every event. */
export async function allSigned({ service: { runtime } }: TestService): Promise<void> {
  await eventually(
    async () => {
      const { rows } = await runtime.postgres.pool.query<{ position: number }>(
        'select max(position) as position from log_checkpoints',
      )
      return rows[0]!.position === (await runtime.dependencies.store.head())
    },
    (isSigned) => isSigned,
  )
}

/** A backup of a service's whole history, and both programs that verify it. */
export async function openSignedBackup(t: Test) {
  const { run, service } = await openCommandLine()
  const directory = temporaryDirectory(t)
  const backup = join(directory, 'backup')
  await allSigned(service)
  await run('backup', backup)

  /** The 170 lines of docs/audit.md, which know none of our code. */
  const standalone = async (where: string, ...more: readonly string[]) => {
    const key = await (await fetch(`${service.url}/log/key`)).text()
    return execute(process.execPath, [join(root, 'docs/audit-verifier.mjs'), where, key.trim(), ...more])
  }
  const verify = async (where: string, ...more: readonly string[]) => {
    const result = await run('audit', 'verify', where, '--json', ...more)
    return { code: result.code, report: jsonOf<AuditReport>(result) }
  }
  /** A copy of the backup, or of a copy, of which one file is changed line by line. */
  const changed = (what: string, name: string, change: Change, of = backup) => {
    const copy = join(directory, what.replaceAll(' ', '-'))
    mkdirSync(copy)
    for (const file of ['manifest.json', 'bookkeeping.ndjson.gz', 'events.ndjson.gz'])
      copyFileSync(join(of, file), join(copy, file))
    const lines = gunzipSync(readFileSync(join(of, name)))
      .toString()
      .trimEnd()
      .split('\n')
    const text = change(lines).map((line) => `${line}\n`)
    writeFileSync(join(copy, name), gzipSync(text.join('')))
    return copy
  }
  return { directory, backup, service, run, verify, standalone, changed }
}
