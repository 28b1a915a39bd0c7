import { randomBytes } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { writeBackup } from '../../infra/backup/write.ts'
import { seedContext, vouchedKeys } from '../../infra/postgres/transparency/log-keys.ts'
import { lastCheckpoint, TreeStore } from '../../infra/postgres/transparency/tree-store.ts'
import { checkpointText, parseCheckpoint } from '../../infra/transparency/checkpoint.ts'
import { commitmentOf } from '../../infra/transparency/commitment.ts'
import { leafHash } from '../../infra/transparency/hashing.ts'
import {
  cosigner,
  noteSigner,
  noteVerifier,
  parseNote,
  writeNote,
  type NoteSigner,
} from '../../infra/transparency/signed-note.ts'
import { GrowingTree } from '../../infra/transparency/tree.ts'
import { addCheckpoint, type WitnessLogs } from '../../infra/transparency/witness.ts'
import { apiKey } from '../../packages/domain/api-keys/api-key.ts'
import type { MerchantOwner } from '../../packages/kernel/owner.ts'
import { auditWholeLog } from '../../services/notary/audit-log.ts'
import { ikw, jsonOf, settingsOf } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { makeHistory } from '../support/verifying/history.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { startService, type TestService } from '../support/service.ts'
import {
  everything,
  onEventStoreDb,
  onPostgres,
  type Engine,
  type Tampering,
} from '../support/verifying/tampering.ts'

/** Not in a backup: it is made anew from the log. */
const readModel = `update %s set state = jsonb_set(state::jsonb, '{money,amount}', '1')`

let service: TestService
let engine: Engine
const directory = temporaryDirectory(t)

const alarms = () => service.health<{ status: string; alarms?: { audit: string[] } }>('/readyz')
/** A pass over the whole log may end with what was found before, so the test waits for its own finding. */
const alarmed = (says: RegExp) =>
  eventually(alarms, ({ body }) => body.alarms?.audit.some((problem) => says.test(problem)) ?? false)
const query = (sql: string) => service.service.runtime.postgres.pool.query(sql)

async function backup(name: string): Promise<string> {
  const { postgres, asStored: store } = service.service.runtime
  const place = join(mkdtempSync(join(directory, 'backup-')), name.replaceAll(' ', '-'))
  const { pool } = postgres
  await writeBackup({ directory: place, pool, store, now: new Date(), onProgress: () => undefined })
  return place
}

/** Does it, and undoes it when it was found. */
async function whileTampered(tampering: Tampering, find: () => Promise<void>): Promise<void> {
  const undo = await engine.tamper(tampering)
  try {
    await find()
  } finally {
    await undo()
  }
  await eventually(alarms, ({ status }) => status === 200)
}

/** The service does so within a minute: what is signed while tables are kept aside would be lost. */
async function noteKeyUses(): Promise<void> {
  const { asStored, dependencies } = service.service.runtime
  for await (const events of asStored.readOn(0)) {
    for (const { stream, type, metadata } of events.filter((event) => event.type === 'ApiKeyIssued')) {
      // Keys belong to merchants.
      const { merchant, livemode } = metadata as unknown as MerchantOwner
      const envelope = { merchant, livemode, actor: 'service', correlation: type }
      const id = stream.slice(`${apiKey.category}-`.length)
      await dependencies.executor.send(apiKey, id, { type: 'NoteApiKeyUsed', data: {} }, envelope)
    }
  }
}

async function start(t: Test): Promise<void> {
  const auditor = { newEventsEveryMs: 100, wholeLogAfterMs: 0, wholeLogEveryMs: 100, share: 1 }
  service = await startService(t, { ...engine.settings, LOG_LEVEL: 'silent' }, { auditor })
  const { payoutOrder } = await makeHistory(service)
  await engine.prepare()
  await service.post('/api/v1/payouts', payoutOrder)
  await noteKeyUses()
  const { store } = service.service.runtime.dependencies
  await eventually(
    async () => {
      const { rows } = await query('select max(position)::int as position from log_checkpoints')
      return (rows[0] as { position: number }).position === (await store.head())
    },
    (isSigned) => isSigned,
  )
}

/** Who has seen the newest event ends when it is gone, so it is only hidden from the auditor here. */
async function foundWithoutNewest(): Promise<readonly string[]> {
  const { postgres, dependencies, asStored } = service.service.runtime
  const { pool } = postgres
  const { store, vault, clock: now } = dependencies
  const head = await asStored.head()
  const readOn = async function* (after: number) {
    for await (const events of asStored.readOn(after)) yield events.filter(({ position }) => position < head)
  }
  const audited = {
    pool,
    stored: { ...asStored, readOn },
    store,
    now,
    witnesses: [],
    verifierKeys: () => vouchedKeys({ pool, vault }),
  }
  const { signal } = new AbortController()
  return (await auditWholeLog(audited, { share: 1, signal })).problems
}

/** The log with another amount, and a tree over it as if it had never been otherwise. */
async function writeAnew(signer: NoteSigner): Promise<GrowingTree> {
  const { postgres, asStored } = service.service.runtime
  await query('delete from log_checkpoints; delete from log_bundles; delete from log_tiles')
  const tree = new GrowingTree()
  const positions: number[] = []
  const commitments: Buffer[] = []
  for await (const events of asStored.readOn(0)) {
    for (const event of events) {
      const commitment = commitmentOf(event)
      tree.add(leafHash(commitment))
      commitments.push(commitment)
      positions.push(event.position)
    }
  }
  const { size } = tree
  const root = tree.root()
  const text = checkpointText({ origin: signer.name, size, root })
  const note = writeNote({ text, signatures: [signer.sign(text)] })
  const checkpoint = { size, root, note, position: positions.at(-1)! }
  const leaves = { positions, commitments: Buffer.concat(commitments) }
  await new TreeStore(postgres.pool).grow({ leaves, tiles: tree.takeTiles(), checkpoint })
  return tree
}

async function findings(t: Test): Promise<void> {
  await t.test('nothing is found where nothing was changed', async (t) => {
    const { status, body } = await alarms()
    t.match([status, body.alarms], [200, undefined])
  })

  await t.test(
    'the auditor in the service and a backup name what was done to the log, and where',
    async (t) => {
      await lawOver(t, Object.entries(engine.tamperings), async ([what, tampering]) => {
        await whileTampered(tampering, async () => {
          const { status, body } = await alarmed(tampering.says)
          t.strictSame([status, body.status], [503, 'not ready'], what)
          const verified = await ikw({}, 'audit', 'verify', await backup(what), '--json')
          t.equal(verified.code, 1, what)
          const { findings } = jsonOf<{ findings: { leaf?: number; problem: string }[] }>(verified)
          const told = findings.map(({ leaf, problem }) =>
            leaf === undefined ? problem : `leaf ${leaf}: ${problem}`,
          )
          t.ok(
            told.some((problem) => tampering.says.test(problem)),
            `${what}: ${JSON.stringify(told)}`,
          )
        })
      })
    },
  )

  await t.test('that the newest event is gone is said too', async (t) => {
    const says = /^1 events are missing at the end: \d+ were notarised$/
    t.ok((await foundWithoutNewest()).some((problem) => says.test(problem)))
  })

  await t.test(
    'a history that strangers write anew, with a key of theirs, is found by the service',
    async (t) => {
      await whileTampered(everything, async () => {
        const [origin] = (await (await fetch(`${service.url}/log/checkpoint`)).text()).split('\n')
        const forger = noteSigner(origin!, randomBytes(32))
        await query(`update log_keys set sealed_seed = 'v1.nobody.', verifier_key = '${forger.verifierKey}'`)
        await writeAnew(forger)
        const unsigned = /^the checkpoint over \d+ events does not hold: no key of the log has signed it$/
        t.equal((await alarmed(unsigned)).status, 503)
      })
    },
  )

  await t.test(
    'a history that we write anew is refused by a witness, and by who kept a checkpoint',
    async (t) => {
      const { pool } = service.service.runtime.postgres
      const { vault } = service.service.runtime.dependencies
      const noted = await (await fetch(`${service.url}/log/checkpoint`)).text()
      const notedFile = join(directory, 'noted.txt')
      writeFileSync(notedFile, noted)
      const { size, root } = parseCheckpoint(parseNote(noted).text)
      await whileTampered(everything, async () => {
        const { rows } = await query('select origin, sealed_seed, verifier_key from log_keys')
        const { origin, sealed_seed, verifier_key } = rows[0] as Record<string, string>
        const seed = Buffer.from(vault.open(sealed_seed!, seedContext(origin!)), 'base64')
        await writeAnew(noteSigner(origin!, seed))
        const place = await backup('written anew')
        const alone = jsonOf<{ findings: unknown[] }>(await ikw({}, 'audit', 'verify', place, '--json'))
        t.strictSame(alone.findings, [], 'by itself its tree looks right')
        const since = jsonOf<{ findings: { problem: string }[] }>(
          await ikw({}, 'audit', 'verify', place, '--since', notedFile, '--json'),
        )
        const told = `the first ${size} events are not those of the checkpoint that was noted`
        t.strictSame(since.findings, [{ problem: told }])

        const newest = (await lastCheckpoint(pool))!.note
        const logs: WitnessLogs = {
          verifiers: () => [noteVerifier(verifier_key!)],
          advance: async (_, step) => step({ size, root }).result,
        }
        const witness = cosigner('witness.example/w1', randomBytes(32), () => new Date())
        const answer = await addCheckpoint(`old ${size}\n\n${newest}`, logs, witness)
        t.match(answer, { status: 422, body: /does not continue the log/ })
      })
    },
  )

  await t.test('a read model that says otherwise than the log is named, with the row', async (t) => {
    const { rows } = await query(
      `select schemaname || '.' || tablename as name from pg_tables where tablename ~ '^payouts_v[0-9]+_[0-9]+$'`,
    )
    const table = (rows[0] as { name: string }).name
    await whileTampered({ tables: [table], sql: readModel.replace('%s', table), says: /./ }, async () => {
      const { status, body } = await alarmed(/^read model payouts \["\S+"\]: state is not what the log says$/)
      t.equal(status, 503)
      const replayed = await ikw({ ...settingsOf(service), ...engine.settings }, 'ledger', 'replay')
      t.match(replayed, { code: 1, stdout: /payouts .*: state/ }, 'whoever counts by hand is told too')
      t.notMatch(JSON.stringify(body), /\+2217/, 'and no number of a telephone')
      t.match((await service.health<string>('/metrics')).body, /^audit_findings [1-9]/m)
      t.equal((await service.get('/readyz')).status, 200, 'balancers go on')
    })
  })

  // It is signed like any other, since whoever writes to the log is believed: so this is the last test.
  await t.test('an entry that nobody has decided is named by the books', async (t) => {
    await engine.forgeEntry()
    const twice = /^L5: entry \S+ of \S+ is there twice$/
    t.equal((await alarmed(twice)).status, 503)
    const { code, stdout } = await ikw({}, 'audit', 'verify', await backup('forged'), '--json')
    const { books } = JSON.parse(stdout) as { books: { violations: { rule: string; problem: string }[] } }
    t.ok(books.violations.some(({ rule, problem }) => twice.test(`${rule}: ${problem}`)))
    t.equal(code, 1)
  })
}

for (const [name, open] of Object.entries({ PostgreSQL: onPostgres, EventStoreDB: onEventStoreDb })) {
  t.test(`on ${name}`, async (t) => {
    engine = await open(t, query)
    await start(t)
    await findings(t)
  })
}
