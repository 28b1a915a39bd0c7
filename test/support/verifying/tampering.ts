import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { append, recordsOf, writtenAnew, type ServerRecord } from '../event-store/eventstoredb-anew.ts'
import { EventStoreDbPeer } from '../eventstoredb-peer/peer.ts'

/** What somebody does to a log, and how it is told. */
export interface Tampering {
  readonly tables: readonly string[]
  readonly sql: string
  /** The same to an EventStoreDB, which changes nothing in place: a server put where the true one was. */
  readonly anew?: Change
  /** What the auditor in the service says. */
  readonly says: RegExp
}

type Change = (records: readonly ServerRecord[]) => readonly ServerRecord[]

const requested = `(select min(position) from events where type = 'PayoutRequested')`
const last = '(select max(position) from events)'

const changed = (path: string, value: string) =>
  `update events set data = jsonb_set(data::jsonb, '${path}', '${value}') where position = ${requested}`

/** The first payout, otherwise: of the same length, so that all behind it stands where it stood. */
function withPayout(change: (record: ServerRecord) => Partial<ServerRecord>): Change {
  return (records) => {
    const at = records.findIndex(({ type }) => type === 'PayoutRequested')
    return records.with(at, { ...records[at]!, ...change(records[at]!) })
  }
}

const otherAmount = withPayout(({ data }) => {
  return { data: { ...data, money: { ...(data['money'] as object), amount: 2_000 } } }
})

/** Of an EventStoreDB, whose own notes about the history are no leaves. */
const isLeaf = ({ type }: ServerRecord) => !type.startsWith('History')

/** Two events of different streams, one behind the other. */
function exchanged(records: readonly ServerRecord[]): readonly ServerRecord[] {
  const at = records.findIndex((record, index) => {
    const next = records[index + 1]
    return index > 3 && isLeaf(record) && next?.stream !== record.stream
  })
  return records.toSpliced(at, 2, records[at + 1]!, records[at]!)
}

/** What another program writes, of the same size: all behind it stands where it would stand behind that. */
function anotherProgramsLike({ stream, type, data, metadata }: ServerRecord): ServerRecord {
  const room = JSON.stringify(data).length + JSON.stringify(metadata).length
  const text = 'x'.repeat(room - JSON.stringify({ text: '' }).length - JSON.stringify({}).length)
  const elsewhere = { stream: 'x'.repeat(stream.length), type: 'x'.repeat(type.length) }
  return { ...elsewhere, id: randomUUID(), data: { text }, metadata: {} }
}

const isAnotherPrograms = ({ stream }: ServerRecord) => stream.startsWith('xx')

function withoutOne(records: readonly ServerRecord[]): readonly ServerRecord[] {
  const at = records.findIndex(({ type }) => type === 'RefundRequested')
  return records.with(at, anotherProgramsLike(records[at]!))
}

function withOneMore(records: readonly ServerRecord[]): readonly ServerRecord[] {
  const at = records.findIndex(isAnotherPrograms)
  const payout = records.find(({ type }) => type === 'PayoutRequested')!
  const id = randomUUID()
  return records.with(at, { ...payout, id, stream: `payout-${id}` })
}

const notWhatItWas =
  /^leaf \d+: event \S+ \(PayoutRequested, payout-\S+ revision 0\) is not what was notarised$/
const moved = /^leaf \d+: event \S+ .* was notarised as leaf \d+, and stands as leaf \d+$/

/** What somebody can do who may write to the database, but has neither the log's key nor the master key. */
export const tamperings: Readonly<Record<string, Tampering>> = {
  'an amount': {
    tables: ['events'],
    sql: changed('{money,amount}', '2000'),
    anew: otherAmount,
    says: notWhatItWas,
  },
  'a telephone number': {
    tables: ['events'],
    sql: changed('{destination,msisdn}', '"+221770009999"'),
    anew: withPayout(({ metadata }) => {
      const sealed = metadata['sealed'] as { readonly box: string }
      const box = sealed.box.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))
      return { metadata: { ...metadata, sealed: { ...sealed, box } } }
    }),
    says: notWhatItWas,
  },
  'the order of two events': {
    tables: ['events'],
    sql: `update events set position = -position where position in (3, 4);
          update events set position = case position when -3 then 4 else 3 end where position in (-3, -4)`,
    anew: exchanged,
    says: moved,
  },
  'an event removed': {
    tables: ['events'],
    sql: 'delete from events where position = 5',
    anew: withoutOne,
    says: moved,
  },
  'an event added before others': {
    tables: ['events'],
    sql: `delete from events where position = 6;
          insert into events
          select 6, stream, 99, gen_random_uuid(), type, data, metadata from events where position = 5`,
    anew: withOneMore,
    says: /^leaf \d+: event \S+ .* is not what was notarised$/,
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
  'the root beside a checkpoint': {
    tables: ['log_checkpoints'],
    sql: `update log_checkpoints set root = sha256('another') where size = (select max(size) from log_checkpoints)`,
    says: /^the root beside the checkpoint over \d+ events is not the signed one$/,
  },
  'where a checkpoint ends': {
    tables: ['log_checkpoints'],
    sql: `update log_checkpoints set position = position + 1
          where size = (select min(size) from log_checkpoints)`,
    says: /^the checkpoint over \d+ events is kept as ending at position \d+, and it ends at \d+$/,
  },
  'the position of a leaf': {
    tables: ['log_bundles'],
    sql: `update log_bundles set positions[3] = positions[4] where index = 0`,
    says: /^leaf 2: event \S+ .* is at position \d+, and its leaf is kept for \d+$/,
  },
  'the first position of a bundle': {
    tables: ['log_bundles'],
    sql: `update log_bundles set first_position = first_position + 1 where index = 0`,
    says: /^leaf 0: event \S+ .* is at position \d+, and its leaf is kept for 0$/,
  },
  'every checkpoint': {
    tables: ['log_checkpoints'],
    sql: 'delete from log_checkpoints',
    says: /^nobody has signed any of the \d+ events$/,
  },
}

const ofTree = ['events', 'log_bundles', 'log_tiles', 'log_checkpoints', 'log_keys']

/** All of it, to be written anew with another amount. */
export const everything: Tampering = {
  tables: ofTree,
  sql: changed('{money,amount}', '2000'),
  anew: otherAmount,
  says: /./,
}

/** Where the log is, and what somebody can do to it there. */
export interface Engine {
  readonly settings: Readonly<Record<string, string>>
  readonly tamperings: Readonly<Record<string, Tampering>>
  /** Returns what undoes it. */
  readonly tamper: (tampering: Tampering) => Promise<() => Promise<void>>
  /** Before the last events are written. */
  readonly prepare: () => Promise<void>
  /** Writes an entry of a book a second time at the end, as only a program of ours would. */
  readonly forgeEntry: () => Promise<void>
}

/** Asks the database of the service. */
type Query = (sql: string) => Promise<unknown>

const keptAs = (table: string) => `kept_${table.replace('.', '_')}`

async function tamperWithTables(query: Query, { tables, sql }: Tampering): Promise<() => Promise<void>> {
  for (const table of tables) await query(`create table ${keptAs(table)} as table ${table}`)
  await query(sql)
  return async () => {
    for (const table of tables) {
      await query(`begin; alter table ${table} disable trigger all; delete from ${table};
        insert into ${table} overriding system value select * from ${keptAs(table)};
        alter table ${table} enable trigger all; commit;
        drop table ${keptAs(table)}`)
    }
  }
}

export async function onPostgres(_: Test, query: Query): Promise<Engine> {
  const forgeEntry = async () => {
    await query(`
      insert into events
      select ${last} + 1, stream, (select max(revision) + 1 from events own where own.stream = entry.stream),
        gen_random_uuid(), type, data, metadata
      from events entry where stream like 'ledger-%' order by position limit 1`)
  }
  return {
    settings: {},
    tamperings,
    prepare: async () => undefined,
    tamper: (tampering) => tamperWithTables(query, tampering),
    forgeEntry,
  }
}

export async function onEventStoreDb(t: Test, query: Query): Promise<Engine> {
  const peer = await EventStoreDbPeer.start()
  t.teardown(() => peer.stop())
  const inTables = (tampering: Tampering) => !tampering.tables.includes('events')
  return {
    settings: { EVENTSTORE_URL: peer.url },
    tamperings: Object.fromEntries(
      Object.entries(tamperings).filter(([, tampering]) => tampering.anew || inTables(tampering)),
    ),
    async tamper(tampering) {
      const { anew, tables, sql } = tampering
      const inTables = tables.filter((table) => table !== 'events')
      const undo = await tamperWithTables(query, {
        ...tampering,
        tables: inTables,
        sql: anew ? 'select' : sql,
      })
      if (!anew) return undo
      const other = await writtenAnew(peer, anew)
      const before = peer.line.leadTo(other.line.port)
      return async () => {
        peer.line.leadTo(before)
        await other.stop()
        await undo()
      }
    },
    async prepare() {
      const payout = (await recordsOf(peer.url)).find(({ type }) => type === 'PayoutRequested')!
      await append(peer.url, [anotherProgramsLike(payout)])
    },
    async forgeEntry() {
      const there = await recordsOf(peer.url)
      const entry = there.find(({ stream }) => stream.startsWith('ledger-'))!
      await append(peer.url, [{ ...entry, id: randomUUID() }], there)
    },
  }
}
