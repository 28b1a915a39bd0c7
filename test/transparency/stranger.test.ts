import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { noteSigner } from '../../infra/transparency/signed-note.ts'
import { root } from '../support/root.ts'
import { openSignedBackup } from '../support/verifying/signed-backup.ts'
import { writeAnew } from '../support/event-store/written-anew.ts'

/** The line of docs/audit.md by which the log's key is taken out of a backup. */
const keyLine = /^ {4}(zcat \/backups\/2026-11\/.*) > log-key\.txt$/m.exec(
  readFileSync(join(root, 'docs/audit.md'), 'utf8'),
)![1]!

t.test('an auditor who has a backup, an old checkpoint and docs/audit.md', async (t) => {
  const { directory, backup, service, run } = await openSignedBackup(t)
  const old = join(directory, 'old.txt')
  writeFileSync(old, await (await fetch(`${service.url}/log/checkpoint`)).text())
  const keyIn = (place: string) =>
    execFileSync('sh', ['-c', keyLine.replace('/backups/2026-11', place)], { encoding: 'utf8' }).trim()
  const both = async (place: string) => {
    const key = keyIn(place)
    const { code, stdout } = await run('audit', 'verify', place, '--key', key, '--since', old)
    const verifier = [join(root, 'docs/audit-verifier.mjs'), place, key, old]
    try {
      execFileSync(process.execPath, verifier, { stdio: 'pipe' })
      return [code, 0, stdout]
    } catch {
      return [code, 1, stdout]
    }
  }

  await t.test('finds the key of the log, and that the log goes on from the checkpoint', async (t) => {
    t.equal(keyIn(backup), (await (await fetch(`${service.url}/log/key`)).text()).trim())
    t.match(await both(backup), [0, 0])
  })

  await t.test('is not taken in by a history that somebody has signed anew in its name', async (t) => {
    const name = keyIn(backup).split('+')[0]!
    const signer = noteSigner(name, createHash('sha256').update('somebody').digest())
    const change = () => undefined
    const forged = writeAnew({ from: backup, to: join(directory, 'anew'), signer, change })
    t.match(await both(forged), [1, 1, /the checkpoint that was noted does not hold/])
  })
})
