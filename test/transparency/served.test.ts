import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { cosigner, parseNote, signatureLine } from '../../infra/transparency/signed-note.ts'
import { nodeArguments } from '../support/processes/child-process.ts'
import { runGo, withoutGo } from '../support/verifying/go.ts'
import { startService } from '../support/service.ts'
import { allSigned } from '../support/verifying/signed-backup.ts'

const seed = createHash('sha256').update('witness').digest()
const witness = cosigner('witness.example/w1', seed, () => new Date('2026-11-25T00:00:00Z'))

t.test(
  "Go's sumdb verifies the log that a service shows, and a cosignature",
  { skip: withoutGo },
  async (t) => {
    const service = await startService(t)
    const { pool } = service.service.runtime.postgres
    await service.post('/api/v1/payment-intents', { amount: 500, currency: 'XOF', transaction_country: 'SN' })
    await allSigned(service)
    const key = (await (await fetch(`${service.url}/log/key`)).text()).trim()
    const verify = () => runGo('./served', service.url, key, witness.verifierKey)
    await t.rejects(verify(), /^1 of 2 signatures are there/m)

    const newest = 'select size, note from log_checkpoints order by size desc limit 1'
    const { rows } = await pool.query<{ size: number; note: string }>(newest)
    const { size, note } = rows[0]!
    const keep = (signed: string) =>
      pool.query(
        `insert into log_cosignatures (size, witness, line) values ($1, $2, $3)
       on conflict (size, witness) do update set line = excluded.line`,
        [size, witness.name, signatureLine(witness.sign(signed))],
      )
    await keep(parseNote(note).text)
    t.equal(await verify(), `${size} leaves, cosigned by ${witness.name}\n`)

    await keep(parseNote(note).text.replace(`\n${size}\n`, `\n${size + 1}\n`))
    await t.rejects(verify(), /invalid signature for key witness\.example\/w1/)
    await keep(parseNote(note).text)
    await pool.query(
      'update log_bundles set commitments = set_byte(commitments, 0, 255 - get_byte(commitments, 0))',
    )
    await t.rejects(verify(), /leaf 0 is not that of its entry/)
  },
)

t.test('where Go is missing the suite says so, and on CI it fails', async (t) => {
  const run = async (environment: object) => {
    const child = spawn(process.execPath, nodeArguments('test/transparency/go.test'), {
      env: { PATH: '/nowhere', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = once(child, 'close')
    const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr)])
    const [code] = (await ended) as [number]
    return { code, said: said + complained }
  }
  t.match(await run({}), { code: 0, said: /SKIP Go is not on this machine/ })
  const onCi = await run({ CI: 'true' })
  t.not(onCi.code, 0)
  t.match(onCi.said, /CI has to have it/)
})
