import type pg from 'pg'
import { copiedRows, type CopyQuery } from '../laws/copy.ts'
import {
  BrokenConnectionError,
  copied,
  DuplicateKeyError,
  type Row,
  type SimulatedDatabase,
} from './database.ts'
import type { Life } from '../scheduler.ts'
import type { Stage } from '../stage.ts'

type Write = () => void

export interface Connection {
  readonly stage: Stage
  readonly database: SimulatedDatabase
  readonly life: Life
  /** Throws when another process leads. Its lock and the commit are one moment, as with the real fence. */
  readonly fence?: (() => void) | undefined
}

interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

/**
 * As much of a pool as the projector uses: its transactions are all or nothing, and their end may get lost.
 */
export function simulatedPool(connection: Connection): pg.Pool {
  const query = (given: unknown, values: readonly unknown[] = []) => {
    return answer(connection, statementOf(given, values), undefined)
  }
  const connect = async () => {
    const writes: Write[] = []
    const run = (given: unknown, values: readonly unknown[] = []) => {
      if (isSubmittable(given)) return copy(connection, given, writes)
      return answer(connection, statementOf(given, values), writes)
    }
    return { query: run, release: () => undefined }
  }
  // The projector calls nothing else of it; a statement that is not known here throws.
  return { query, connect } as unknown as pg.Pool
}

function statementOf(given: unknown, values: readonly unknown[]): Statement {
  const statement = typeof given === 'string' ? { text: given, values } : (given as Statement)
  return { text: statement.text.trim(), values: statement.values }
}

async function answer(at: Connection, { text, values }: Statement, writes: Write[] | undefined) {
  const { database } = at
  if (/^(begin|rollback|create |set local)/.test(text)) return result([])
  if (text === 'commit') return commit(at, writes!)
  if (text.startsWith('insert into checkpoints')) return result([])
  if (text.startsWith('select position from checkpoints')) {
    return result([{ position: database.checkpoints.get(String(values[0])) ?? 0 }])
  }
  if (text.startsWith('select distinct stream from parked')) return result([])
  if (/^select "id", .* from read\./.test(text)) return documents(at, { text, values })
  if (text.startsWith('with terms'))
    return writes ? moveCheckpoints(at, values, writes) : moveAlone(at, { text, values })
  if (text.startsWith('insert into parked')) {
    at.stage.violate('R7', `the projector parks ${values.slice(0, 3).join(' ')}: ${values.at(-1)}`)
    return result([])
  }
  const rows = JSON.parse(String(values[0])) as readonly Row[]
  writes!.push(() => database.write(text, rows))
  return result([])
}

type Move = readonly [terms: unknown, names: readonly string[], from: readonly number[], through: number]

/** Whoever moves them first locks them until the end: the other one finds them moved by then. */
function moveCheckpoints({ stage, database }: Connection, values: readonly unknown[], writes: Write[]) {
  const [, names, from, through] = values as Move
  const isThere = () =>
    stage.mistake === 'projector without fence' ||
    names.every((name, index) => (database.checkpoints.get(name) ?? 0) === from[index])
  writes.push(() => {
    if (!isThere()) throw new Error('these read models have been moved by somebody else')
    for (const name of names) database.checkpoints.set(name, through)
  })
  return result([{ goes_on: true, changed: isThere() ? names.length : 0 }])
}

/** A statement by itself: what it writes is stored with the move, or neither is. */
async function moveAlone(at: Connection, { text, values }: Statement) {
  const writes: Write[] = []
  const moved = moveCheckpoints(at, values, writes)
  const [, written] = /written as \((.*)\),\s*changed as/s.exec(text) ?? []
  const rows = (written === undefined ? [] : JSON.parse(String(values[4]))) as readonly Row[]
  if (written !== undefined) writes.push(() => at.database.write(written, rows))
  await commit(at, writes)
  return moved
}

function isSubmittable(given: unknown): given is CopyQuery {
  return typeof given === 'object' && given !== null && 'handleCopyInResponse' in given
}

/** COPY adds rows that are not there, or fails. */
function copy({ stage, database }: Connection, query: CopyQuery, writes: Write[]): void {
  const { name, rows } = copiedRows(query)
  const isGuarded = stage.mistake !== 'projector without fence'
  if (isGuarded && rows.some((row) => database.has(name, row))) {
    return query.handleError(new DuplicateKeyError(`a row of ${name} is there`))
  }
  writes.push(() => database.add(name, rows))
  query.handleReadyForQuery()
}

function documents({ stage, database, life }: Connection, { text, values }: Statement) {
  const [, name = ''] = / from (\S+)/.exec(text) ?? []
  const ids = values[0] as readonly string[]
  return stage.scheduler.call(life, () => {
    const rows = ids.flatMap((id) => database.rows.get(name)!.get(id) ?? [])
    return { rows: copied(rows), rowCount: rows.length }
  })
}

async function commit({ stage, life, fence }: Connection, writes: readonly Write[]) {
  if (writes.length === 0) return result([])
  const { random, faults } = stage.scheduler
  const fate = random.chance(faults.brokenWrite) ? random.pick(['before', 'after'] as const) : 'done'
  return stage.scheduler.call(life, () => {
    fence?.()
    if (fate !== 'before') {
      for (const write of writes) write()
    }
    if (fate !== 'done') throw new BrokenConnectionError(`the connection broke ${fate} the commit`)
    return { rows: [], rowCount: 0 }
  })
}

function result(rows: readonly Row[]) {
  return { rows, rowCount: rows.length }
}
