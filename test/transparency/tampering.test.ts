import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { writeBackup } from '../../infra/backup/write.ts'
import { seedContext } from '../../infra/postgres/transparency/log-keys.ts'
import { lastCheckpoint, TreeStore, type NewLeaf } from '../../infra/postgres/transparency/tree-store.ts'
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
import { ikw, jsonOf } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { makeHistory } from '../support/history.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { startService, type TestService } from '../support/service.ts'

t.setTimeout(300_000)

interface Tampering {
  readonly tables: readonly string[]
  readonly sql: string
  /** What the auditor in the service says. */
  readonly says: RegExp
  offline?: RegExp
}

const requested = `(select min(position) from events where type = 'PayoutRequested')`
const last = '(select max(position) from events)'

const changed = (path: string, value: string) =>
  `update events set data = jsonb_set(data::jsonb, '${path}', '${value}') where position = ${requested}`

/** What somebody can do who may write to the database, but has neither the log's key nor the master key. */
const tamperings: Readonly<Record<string, Tampering>> = {
  'an amount': {
    tables: ['events'],
    sql: changed('{money,amount}', '2000'),
    says: /^leaf \d+: event \S+ \(PayoutRequested, payout-\S+ revision 0\) is not what was notarised$/,
  },
  'a telephone number': {
    tables: ['events'],
    sql: changed('{destination,msisdn}', '"+221770009999"'),
    says: /^leaf \d+: event \S+ \(PayoutRequested, payout-\S+ revision 0\) is not what was notarised$/,
  },
  'the order of two events': {
    tables: ['events'],
    sql: `update events set position = -position where position in (3, 4);
          update events set position = case position when -3 then 4 else 3 end where position in (-3, -4)`,
    says: /^leaf 2: event \S+ .* was notarised as leaf 3, and stands as leaf 2$/,
  },
  'an event removed': {
    tables: ['events'],
    sql: 'delete from events where position = 5',
    says: /^leaf 4: event \S+ .* was notarised as leaf 5, and stands as leaf 4$/,
  },
  'the newest event removed': {
    tables: ['events'],
    sql: `delete from events where position = ${last}`,
    says: /^1 events are missing at the end: \d+ were notarised$/,
  },
  'an event added before others': {
    tables: ['events'],
    sql: `delete from events where position = 6;
          insert into events
          select 6, stream, 99, gen_random_uuid(), type, data, metadata from events where position = 5`,
    says: /^leaf 5: event \S+ .* revision 99\) is not what was notarised$/,
  },
  'a tile': {
    tables: ['log_tiles'],
    sql: `update log_tiles set hashes = set_byte(hashes, 40, 255 - get_byte(hashes, 40))
          where level = 0 and index = 0`,
    says: /^tile 0\/0 is not what its \d+ hashes make it$/,
  },
  'a checkpoint': {
    tables: ['log_checkpoints'],
    sql: `update log_checkpoints set note = regexp_replace(note, '\\n.{44}\\n', E'\\n${'A'.repeat(43)}=\\n')
          where size = (select max(size) from log_checkpoints)`,
    says: /^the checkpoint over \d+ events does not hold: the signature of \S+ does not hold$/,
  },
  'every checkpoint': {
    tables: ['log_checkpoints'],
    sql: 'delete from log_checkpoints',
    says: /^nobody has signed any of the \d+ events$/,
  },
}

/** Not in a backup: it is made anew from the log. */
const readModel = `update %s set state = jsonb_set(state::jsonb, '{money,amount}', '1')`

let service: TestService
const directory = temporaryDirectory(t)

const alarms = () => service.health<{ status: string; alarms?: { audit: string[] } }>('/readyz')
/** A pass over the whole log may end with what was found before, so the test waits for its own finding. */
const alarmed = (says: RegExp) =>
  eventually(alarms, ({ body }) => body.alarms?.audit.some((problem) => says.test(problem)) ?? false)
const query = (sql: string) => service.service.runtime.postgres.pool.query(sql)

async function backup(name: string): Promise<string> {
  const { postgres, asStored: store } = service.service.runtime
  const place = join(directory, name.replaceAll(' ', '-'))
  const { pool } = postgres
  await writeBackup({ directory: place, pool, store, now: new Date(), onProgress: () => undefined })
  return place
}

const keptAs = (table: string) => `kept_${table.replace('.', '_')}`

/** Does it, and undoes it when it was found. */
async function whileTampered({ tables, sql }: Tampering, find: () => Promise<void>): Promise<void> {
  for (const table of tables) await query(`create table ${keptAs(table)} as table ${table}`)
  await query(sql)
  try {
    await find()
  } finally {
    for (const table of tables) {
      await query(`begin; alter table ${table} disable trigger all; delete from ${table};
        insert into ${table} overriding system value select * from ${keptAs(table)};
        alter table ${table} enable trigger all; commit;
        drop table ${keptAs(table)}`)
    }
  }
  await eventually(alarms, ({ status }) => status === 200)
}

t.before(async () => {
  const auditor = { newEventsEveryMs: 100, wholeLogAfterMs: 0, wholeLogEveryMs: 100, share: 1 }
  service = await startService(t, {}, { auditor })
  await makeHistory(service)
  const { store } = service.service.runtime.dependencies
  await eventually(
    async () => {
      const { rows } = await query('select max(position)::int as position from log_checkpoints')
      return (rows[0] as { position: number }).position === (await store.head())
    },
    (isSigned) => isSigned,
  )
})

t.test('nothing is found where nothing was changed', async (t) => {
  const { status, body } = await alarms()
  t.match([status, body.alarms], [200, undefined])
})

t.test('the auditor in the service and a backup name what was done to the log, and where', async (t) => {
  await lawOver(t, Object.entries(tamperings), async ([what, tampering]) => {
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
})

/** The log with another amount, and a tree over it as if it had never been otherwise. */
async function writeAnew(signer: NoteSigner): Promise<GrowingTree> {
  const { postgres, asStored } = service.service.runtime
  await query(changed('{money,amount}', '2000'))
  await query('delete from log_checkpoints; delete from log_bundles; delete from log_tiles')
  const tree = new GrowingTree()
  const leaves: NewLeaf[] = []
  for await (const events of asStored.readOn(0)) {
    for (const event of events) {
      const commitment = commitmentOf(event)
      tree.add(leafHash(commitment))
      leaves.push({ commitment, position: event.position })
    }
  }
  const { size } = tree
  const root = tree.root()
  const text = checkpointText({ origin: signer.name, size, root })
  const note = writeNote({ text, signatures: [signer.sign(text)] })
  const checkpoint = { size, root, note, position: leaves.at(-1)!.position }
  await new TreeStore(postgres.pool).grow({ leaves, tiles: tree.takeTiles(), checkpoint })
  return tree
}

const ofTree = ['events', 'log_bundles', 'log_tiles', 'log_checkpoints', 'log_keys']
const written = { tables: ofTree, sql: 'select', says: /./ }

t.test('a history that strangers write anew, with a key of theirs, is found by the service', async (t) => {
  await whileTampered(written, async () => {
    const [origin] = (await (await fetch(`${service.url}/log/checkpoint`)).text()).split('\n')
    const forger = noteSigner(origin!, randomBytes(32))
    await query(`update log_keys set sealed_seed = 'v1.nobody.', verifier_key = '${forger.verifierKey}'`)
    await writeAnew(forger)
    const unsigned = /^the checkpoint over \d+ events does not hold: no key of the log has signed it$/
    t.equal((await alarmed(unsigned)).status, 503)
  })
})

t.test('a history that we write anew is refused by a witness, and by who kept a checkpoint', async (t) => {
  const { pool } = service.service.runtime.postgres
  const { vault } = service.service.runtime.dependencies
  const noted = await (await fetch(`${service.url}/log/checkpoint`)).text()
  const notedFile = join(directory, 'noted.txt')
  writeFileSync(notedFile, noted)
  const { size, root } = parseCheckpoint(parseNote(noted).text)
  await whileTampered(written, async () => {
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
})

t.test('a read model that says otherwise than the log is named, with the row', async (t) => {
  const { rows } = await query(
    `select schemaname || '.' || tablename as name from pg_tables where tablename ~ '^payouts_v[0-9]+_[0-9]+$'`,
  )
  const table = (rows[0] as { name: string }).name
  await whileTampered({ tables: [table], sql: readModel.replace('%s', table), says: /./ }, async () => {
    const { status, body } = await alarmed(/^read model payouts \["\S+"\]: state is not what the log says$/)
    t.equal(status, 503)
    t.notMatch(JSON.stringify(body), /\+2217/, 'and no number of a telephone')
    t.match((await service.health<string>('/metrics')).body, /^audit_findings [1-9]/m)
    t.equal((await service.get('/readyz')).status, 200, 'balancers go on')
  })
})

/** It is signed like any other, since whoever writes to the log is believed; so this test is the last one. */
t.test('an entry that nobody has decided is named by the books', async (t) => {
  await query(`
    insert into events
    select ${last} + 1, stream, (select max(revision) + 1 from events own where own.stream = entry.stream),
      gen_random_uuid(), type, data, metadata
    from events entry where stream like 'ledger-%' order by position limit 1`)
  t.equal((await alarmed(/^L5: entry \S+ of \S+ is there twice$/)).status, 503)
})
