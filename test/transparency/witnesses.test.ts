import { spawn, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { checkpointText } from '../../infra/transparency/checkpoint.ts'
import {
  noteSigner,
  noteVerifier,
  parseNote,
  verifiedSigners,
  writeNote,
} from '../../infra/transparency/signed-note.ts'
import { sha256 } from '../../infra/transparency/hashing.ts'
import { readConfiguration } from '../../infra/configuration.ts'
import { startService as start } from '../../services/all-in-one/start.ts'
import { SeenCheckpoints } from '../../services/cli/audit/seen-checkpoints.ts'
import { nodeArguments } from '../support/processes/child-process.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { clientOf } from '../support/service.ts'

/** `ikw witness` as a process of its own. */
async function startWitness(t: Test, { directory, logs }: { directory: string; logs: readonly string[] }) {
  const options = ['--name', 'witness.example/w1', '--directory', directory, '--port', '0', '--log', ...logs]
  const program = [...nodeArguments('services/cli/main'), 'witness', ...options]
  const child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  t.teardown(kill)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const [said, key] = [(await lines.next()).value as string, (await lines.next()).value as string]
  return { url: /http:\S+(?=;)/.exec(said)![0], key, kill }
}

const stranger = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'

t.test(
  'a witness signs the log while it grows, also after both were killed, and no shorter one',
  async (t) => {
    const { url: POSTGRES_URL } = await testDatabase(t)
    const directory = join(temporaryDirectory(t), 'witness')
    const settings = { PORT: '0', DATA_DIR: temporaryDirectory(t), POSTGRES_URL, LOG_LEVEL: 'silent' }
    const unwitnessed = await start(readConfiguration(settings))
    const logKey = await eventually(
      async () => (await fetch(`${clientOf(unwitnessed).url}/log/key`)).text(),
      (text) => text.includes('+'),
    )
    await unwitnessed.close()
    const logs = [logKey.trim()]

    /** One life of the service with its witness, until the newest checkpoint is cosigned. */
    const life = async (witness: { url: string; key: string }) => {
      const service = await start(
        readConfiguration({ ...settings, WITNESSES: `${witness.url} ${witness.key}` }),
      )
      const { url, post } = clientOf(service)
      await post('/api/v1/payment-intents', { amount: 500, currency: 'XOF', transaction_country: 'SN' })
      const head = await service.runtime.dependencies.store.head()
      const cosigned = await eventually(
        async () => {
          const { rows } = await service.runtime.postgres.pool.query<{ position: number }>(
            'select max(position) as position from log_checkpoints',
          )
          const note = parseNote(await (await fetch(`${url}/log/checkpoint`)).text())
          return {
            note,
            isNewest: rows[0]!.position >= head,
            signers: verifiedSigners(note, [noteVerifier(witness.key)]),
          }
        },
        ({ signers, isNewest }) => isNewest && signers.size > 0,
      )
      await service.close()
      return cosigned
    }

    const first = await startWitness(t, { directory, logs })
    const { note } = await life(first)
    await first.kill()
    const second = await startWitness(t, { directory, logs })
    t.equal(second.key, first.key, 'it is the same witness')
    const later = await life(second)
    t.ok(Number(later.note.text.split('\n')[1]) > Number(note.text.split('\n')[1]))

    const ask = (body: string) => fetch(`${second.url}/add-checkpoint`, { method: 'POST', body })
    const old = `${note.text}\n${note.signatures
      .slice(0, 1)
      .map(
        ({ name, keyId, signature }) => `— ${name} ${Buffer.concat([keyId, signature]).toString('base64')}\n`,
      )
      .join('')}`
    const refused = await ask(`old 0\n\n${old}`)
    t.equal(refused.status, 409, 'it does not forget what it has seen')
    t.equal(refused.headers.get('content-type'), 'text/x.tlog.size')
    t.equal((await ask('x'.repeat(100_000))).status, 413)
    t.equal((await fetch(second.url)).status, 404)
  },
)

/** Why a witness does not start with these files. */
function refusalWith(t: Test, files: Readonly<Record<string, string | symbol>>) {
  const directory = temporaryDirectory(t)
  for (const [name, content] of Object.entries(files)) {
    if (content === nowhere) symlinkSync(join(directory, 'nowhere'), join(directory, name))
    else writeFileSync(join(directory, name), content as string)
  }
  const options = [
    '--name',
    'witness.example/w1',
    '--directory',
    directory,
    '--port',
    '-1',
    '--log',
    stranger,
  ]
  const program = [...nodeArguments('services/cli/main'), 'witness', ...options]
  const { status, stderr } = spawnSync(process.execPath, program, { encoding: 'utf8' })
  return { status, stderr }
}

const nowhere = Symbol('a link to what is not there')

t.test('a witness with a damaged file does not start, and names it', async (t) => {
  const seen = `${createHash('sha256').update('PeterNeumann').digest('hex')}.json`
  const root = randomBytes(32).toString('base64')
  const damaged: readonly (readonly [string, string | symbol])[] = [
    ['seed', ''],
    ['seed', randomBytes(16).toString('base64')],
    ['seed', nowhere],
    [seen, ''],
    [seen, '{}'],
    [seen, 'null'],
    [seen, JSON.stringify({ size: '7', root })],
    [seen, JSON.stringify({ size: 7, root: root.slice(4) })],
    [seen, nowhere],
    [seen.replace('.json', '.7.json'), ''],
    [seen.replace('.json', '.7.json'), nowhere],
  ]
  for (const [name, content] of damaged) {
    const what = `${name} of ${String(content)}`
    t.match(refusalWith(t, { [name]: content }), { status: 2, stderr: new RegExp(`/${name}\\b`) }, what)
  }
  const whole = { [seen]: JSON.stringify({ size: 7, root }), seed: `${randomBytes(32).toString('base64')}\n` }
  t.match(refusalWith(t, whole), { status: 2, stderr: /port/ }, 'only that port is none')
})

t.test('cosignatures are below what is shown also while events come, and below receipts', async (t) => {
  const { url: POSTGRES_URL } = await testDatabase(t)
  const settings = { PORT: '0', DATA_DIR: temporaryDirectory(t), POSTGRES_URL, LOG_LEVEL: 'silent' }
  const unwitnessed = await start(readConfiguration({ ...settings, RATE_LIMIT: 'off' }))
  const key = await eventually(
    async () => (await fetch(`${clientOf(unwitnessed).url}/log/key`)).text(),
    (text) => text.includes('+'),
  )
  await unwitnessed.close()
  const witness = await startWitness(t, { directory: temporaryDirectory(t), logs: [key.trim()] })
  const WITNESSES = `${witness.url} ${witness.key}`
  const service = await start(readConfiguration({ ...settings, WITNESSES, RATE_LIMIT: 'off' }))
  t.teardown(() => service.close())
  const client = clientOf(service)
  const isCosigned = (note: string) => verifiedSigners(parseNote(note), [noteVerifier(witness.key)]).size > 0
  const shown = async () => (await fetch(`${client.url}/log/checkpoint`)).text()
  const order = { amount: 500, currency: 'XOF', transaction_country: 'SN' }
  const { body: first } = await client.post('/api/v1/payment-intents', order)
  await eventually(shown, isCosigned)

  let written = 0
  const appending = (async () => {
    for (const until = Date.now() + 4_000; Date.now() < until; written++)
      await client.post('/api/v1/payment-intents', order)
  })()
  const notes: string[] = []
  const looking = (async () => {
    for (const until = Date.now() + 4_000; Date.now() < until;) notes.push(await shown())
  })()
  await Promise.all([appending, looking])
  t.ok(written > 8 && notes.length > 8, `${written} events, ${notes.length} checkpoints`)
  t.ok(new Set(notes.map((note) => note.split('\n')[1])).size > 1, 'of a log that grew')
  t.strictSame(
    notes.filter((note) => !isCosigned(note)),
    [],
  )
  const receipt = await client.get<{ checkpoint: string }>(`/api/v1/audit/receipts/${String(first['id'])}`)
  t.ok(isCosigned(receipt.body.checkpoint))

  await service.runtime.postgres.pool.query(
    `update log_checkpoints set created_at = now() - interval '1 minute'`,
  )
  const { rows } = await service.runtime.postgres.pool.query<{ size: number }>(
    'select max(size) as size from log_checkpoints',
  )
  t.equal(Number((await shown()).split('\n')[1]), rows[0]!.size, 'a witness that is down keeps nothing back')
})

t.test('two processes on one directory are one witness, and sign one story', async (t) => {
  const directory = temporaryDirectory(t)
  const signers = Array.from({ length: 20 }, (_, index) =>
    noteSigner(`log.example/${index}`, randomBytes(32)),
  )
  const logs = signers.map(({ verifierKey }) => verifierKey)
  const witnesses = await Promise.all([1, 2].map(() => startWitness(t, { directory, logs })))
  const [first, second] = witnesses
  t.equal(first!.key, second!.key)
  for (const signer of signers) {
    const told = await Promise.all(
      witnesses.map(async ({ url }) => {
        const text = checkpointText({ origin: signer.name, size: 1, root: randomBytes(32) })
        const body = `old 0\n\n${writeNote({ text, signatures: [signer.sign(text)] })}`
        return (await fetch(`${url}/add-checkpoint`, { method: 'POST', body })).status
      }),
    )
    t.strictSame(told.toSorted(), [200, 409], signer.name)
  }
})

t.test('what a witness has seen for long takes no more room', async (t) => {
  const directory = temporaryDirectory(t)
  const checkpoints = new SeenCheckpoints(directory, 'log.example')
  for (let number = 1; number <= 80; number++)
    t.ok(await checkpoints.add(number, { size: number, root: randomBytes(32) }))
  t.notOk(await checkpoints.add(80, { size: 80, root: randomBytes(32) }), 'another was first')
  t.notOk(await checkpoints.add(10, { size: 10, root: randomBytes(32) }), 'or is long further')
  t.match(new SeenCheckpoints(directory, 'log.example').last(), { number: 80, seen: { size: 80 } })
  t.ok(readdirSync(directory).length < 70)
})

t.test('what killed witnesses have left is removed, whatever its number', async (t) => {
  const directory = temporaryDirectory(t)
  const [log, other] = ['log.example', 'other.example'].map((origin) => sha256(origin).toString('hex'))
  const { pid: ended } = spawnSync(process.execPath, ['--version'])
  const partialOf = (name: string, pid: number) =>
    writeFileSync(join(directory, `${name}.partial-${pid}-${'0'.repeat(16)}@${hostname()}`), '')
  for (const name of [`${log}.json`, `${log}.6.json`, `${log}.7.json`]) partialOf(name, ended)
  partialOf(`${log}.5.json`, process.ppid)
  partialOf(`${other}.7.json`, ended)
  await new SeenCheckpoints(directory, 'log.example').add(7, { size: 7, root: randomBytes(32) })
  const left = readdirSync(directory).map((name) => name.split('.partial')[0])
  t.strictSame(left.toSorted(), [`${log}.5.json`, `${log}.7.json`, `${other}.7.json`].toSorted())
})

t.test('a witness for others does not sign this log', async (t) => {
  const witness = await startWitness(t, { directory: temporaryDirectory(t), logs: [stranger] })
  const note =
    'localhost:1/log/x\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n— localhost:1/log/x AAAAAAAA\n'
  const response = await fetch(`${witness.url}/add-checkpoint`, { method: 'POST', body: `old 0\n\n${note}` })
  t.equal(response.status, 404)
})
