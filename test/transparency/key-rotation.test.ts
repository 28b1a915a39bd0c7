import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { Receipt } from '../../packages/kernel/ports/proofs.ts'
import { noteVerifier, parseNote, verifiedSigners } from '../../infra/transparency/signed-note.ts'
import { ikw, jsonOf, settingsOf } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { root } from '../support/root.ts'
import { startService, type TestService } from '../support/service.ts'

const execute = promisify(execFile)
const directory = temporaryDirectory(t)
const inDirectory = (name: string) => join(directory, name)

let service: TestService

const text = async (path: string) => (await fetch(`${service.url}/log/${path}`)).text()
const keys = async () => (await text('key')).trim().split('\n')
const run = (...words: string[]) => ikw(settingsOf(service), ...words)

const pay = async () =>
  String(
    (
      await service.post('/api/v1/payment-intents', {
        amount: 500,
        currency: 'XOF',
        transaction_country: 'SN',
      })
    ).body['id'],
  )

/** A payment whose event is signed, with its receipt. */
async function receipt(): Promise<Receipt> {
  const id = await pay()
  const { body } = await eventually(
    () => service.get<Receipt>(`/api/v1/audit/receipts/${id}`),
    ({ status }) => status === 200,
  )
  return body
}

const signersOf = (note: string, key: string) => verifiedSigners(parseNote(note), [noteVerifier(key)]).size

async function verify(file: string, receipt: Receipt, key: string) {
  writeFileSync(inDirectory(file), JSON.stringify(receipt))
  const own = await ikw({}, 'audit', 'verify', '--receipt', inDirectory(file), '--key', key)
  const script = join(root, 'docs/audit-verifier.mjs')
  const others = execute(process.execPath, [script, '--receipt', inDirectory(file), key]).then(
    () => 0,
    () => 1,
  )
  return [own.code, await others]
}

t.before(async () => {
  service = await startService(t)
})

t.test('the key of the log is replaced, and what the old one has signed holds', async (t) => {
  const before = await receipt()
  const [old] = await keys()
  writeFileSync(inDirectory('noted.txt'), await text('checkpoint'))

  const { key: next } = jsonOf<{ key: string }>(await run('audit', 'rotate-key', '--json'))
  t.not(next, old)
  t.strictSame(await keys(), [old, next])
  // The first checkpoint after the announcement is signed by both keys.
  const after = await eventually(receipt, ({ checkpoint }) => signersOf(checkpoint, old!) === 0)
  t.equal(signersOf(after.checkpoint, next), 1)

  t.strictSame(await verify('before.json', before, old!), [0, 0], 'an old receipt by the old key')
  t.strictSame(await verify('before-2.json', before, (await keys()).join('\n')), [0, 0], 'by both')
  t.strictSame(await verify('after.json', after, next), [0, 0], 'a new receipt by the new key')
  t.strictSame(await verify('after-2.json', after, old!), [1, 1], 'and by no other')

  const { rows } = await service.service.runtime.postgres.pool.query<{ note: string; first: boolean }>(
    `select note, position >= announced_position as first
     from log_checkpoints, log_keys where announced_position is not null order by size`,
  )
  const announcing = rows.find(({ first }) => first)!.note
  t.equal(signersOf(announcing, old!), 1, 'the old key has signed the checkpoint over its announcement')
  t.equal(signersOf(announcing, next), 1, 'and so has the new one')
  t.ok(rows.filter(({ first }) => !first).every(({ note }) => signersOf(note, next) === 0))

  t.equal((await run('backup', inDirectory('backup'))).code, 0)
  const audited = await run(
    'audit',
    'verify',
    inDirectory('backup'),
    '--key',
    old!,
    '--since',
    inDirectory('noted.txt'),
  )
  t.match(audited, { code: 0, stderr: '' }, 'who trusts the old key alone follows it to the new one')
  const script = join(root, 'docs/audit-verifier.mjs')
  await t.resolves(execute(process.execPath, [script, inDirectory('backup'), old!, inDirectory('noted.txt')]))
})

t.test('two rotations at once make two keys, each announced by the one before', async (t) => {
  const known = (await keys()).length
  const both = await Promise.all([run('audit', 'rotate-key', '--json'), run('audit', 'rotate-key', '--json')])
  t.strictSame(
    both.map(({ code }) => code),
    [0, 0],
  )
  t.equal((await keys()).length, known + 2)
  const [first] = await keys()
  const last = await receipt()
  t.equal(signersOf(last.checkpoint, (await keys()).at(-1)!), 1)
  t.equal((await run('backup', inDirectory('again'))).code, 0)
  t.match(await run('audit', 'verify', inDirectory('again'), '--key', first!), { code: 0 })
})
