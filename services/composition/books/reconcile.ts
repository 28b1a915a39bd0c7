import { createHash } from 'node:crypto'
import type { Postgres } from '../../../infra/postgres/client/connect.ts'
import { inReadTransaction, type ReadTransaction } from '../../../infra/postgres/client/read-transaction.ts'
import {
  ownReferences,
  providerMovement,
  providerMovements,
  settledEntries,
  unfinishedStatement,
  type MovementsAsked,
} from '../../../infra/postgres/finance/provider-movements.ts'
import { refuseForeign, type ReadStatement } from '../../../infra/statements/read-statement.ts'
import { derivedId } from '../../../packages/contract/identity.ts'
import type { Dependencies } from '../../../packages/contract/routes.ts'
import type { AgreedFees } from '../../../packages/domain/statements/agreed-fees.ts'
import { compare, summaryOf } from '../../../packages/domain/statements/compare.ts'
import {
  statement,
  type Finding,
  type OwnMovement,
  type Reconciled,
  type Statement,
  type StatementEvents,
} from '../../../packages/domain/statements/statement.ts'
import { dayOf, type ZoneClock } from '../../../packages/kernel/time/calendar.ts'
import type { Message } from '../../../packages/kernel/decider.ts'
import type { StatementCommands } from '../../../packages/domain/statements/statement.ts'

export interface Reconciling {
  readonly dependencies: Dependencies
  readonly pool: Postgres['pool']
  readonly rail: string
  readonly environment: 'live' | 'sandbox'
  readonly currency: string
  readonly read: ReadStatement
  readonly clock: ZoneClock
  readonly timeZone: string
  readonly actor: string
  /** What the operator says its account moved by in all; left out: the sum of its lines. */
  readonly moved?: number | undefined
  /** What it takes by its contract; left out: nothing. */
  readonly fees?: AgreedFees | undefined
  readonly onProgress: (done: number, of: number) => void
}

export interface ReconciledStatement {
  readonly id: string
  /** Somebody has imported this file before. */
  readonly isRepeat: boolean
  readonly imported: StatementEvents['StatementImported']
  readonly result: Reconciled
}

type Imported = StatementEvents['StatementImported']

const findingsAtOnce = 2_000
const around = '3 days'

/**
 * Compares a statement with our account at the operator, and writes down each finding. It is compared with
 * what stood in the log when it was imported, so whoever is interrupted goes on where it stopped.
 */
export async function reconcile(asked: Reconciling): Promise<ReconciledStatement> {
  const { rail, environment, currency, read } = asked
  const id = derivedId(namespace, `${rail} ${environment} ${currency} ${read.digest}`)
  const through = await caughtUp(asked)
  await requireFinished(asked, id)
  await requireOwn(asked, id)
  const send = sender(asked, id)
  const importing = importedAs(asked, through)
  const begun = await send({ type: 'ImportStatement', data: importing })
  const { imported, result } = begun
  if (!imported) throw new Error(`statement ${id} was not imported`)
  requireSameReading(imported, importing)
  if (result) return { id, isRepeat: true, imported, result }
  const { findings, ours } = await findingsOf(asked, imported)
  for (let from = begun.findings; from < findings.length; from += findingsAtOnce) {
    const some = findings.slice(from, from + findingsAtOnce)
    await send({ type: 'CompareLines', data: { from, findings: some } })
    asked.onProgress(Math.min(findings.length, from + findingsAtOnce), findings.length)
  }
  const theirs = asked.moved ?? read.lines.reduce((sum, { amount, fee }) => sum + amount - fee, 0)
  const { counts, explained } = summaryOf(findings)
  const drift = theirs - ours
  const unexplained = drift - Object.values(explained).reduce((sum, part) => sum + part, 0)
  const ended = await send({
    type: 'EndReconciliation',
    data: { counts, theirs, ours, drift, explained, unexplained },
  })
  return { id, isRepeat: false, imported, result: ended.result! }
}

const readModelsMs = 60_000

/** Our movements and earlier findings are looked up in read models: all that the log has, or nothing. */
async function caughtUp({ dependencies: { store, reads } }: Reconciling): Promise<number> {
  const head = await store.head()
  if (await reads.reached(head, readModelsMs)) return head
  throw new Error('The read models are behind the log: see `ikw projections status` and `ikw parked list`.')
}

/** What a statement that was cut off has still to say of our entries, another one must not say first. */
async function requireFinished(
  { pool, rail, environment, currency }: Reconciling,
  id: string,
): Promise<void> {
  const unfinished = await unfinishedStatement(pool, { rail, environment, currency, except: id })
  if (!unfinished) return
  const { digest, importedAt } = unfinished
  throw new Error(
    `The statement of ${rail} that was imported at ${importedAt} was cut off: run it again first. ` +
      `The SHA-256 of its file is ${digest}.`,
  )
}

/** What is imported stays, so a file of which we know nothing is refused before that. */
async function requireOwn({ dependencies, pool, environment, read }: Reconciling, id: string): Promise<void> {
  const { state } = await dependencies.executor.current(statement, id)
  if (state.imported) return
  const given = referencesOf(read)
  const isAnyOurs = await inReadTransaction(pool, async (moment) => {
    for await (const _ of ownReferences(moment, given, environment === 'live')) return true
    return false
  })
  if (!isAnyOurs) refuseForeign(given, ` in ${environment}`)
}

/** Those of nothing of ours. Most are of movements within the statement's time, and known already. */
async function foreignReferences(
  moment: ReadTransaction,
  read: ReadStatement,
  own: readonly OwnMovement[],
): Promise<ReadonlySet<string>> {
  const foreign = new Set(referencesOf(read))
  for (const { reference } of own) foreign.delete(reference)
  for await (const reference of ownReferences(moment, [...foreign])) foreign.delete(reference)
  return foreign
}

function referencesOf({ lines }: ReadStatement): readonly string[] {
  return lines.map(({ reference }) => reference).filter((reference) => reference !== '')
}

/** Findings of two readings of one file would be the statement of nobody. */
function requireSameReading(imported: Imported, { reading }: Imported): void {
  if (imported.reading === null || imported.reading === reading) return
  throw new Error(
    'This file was imported before, and understood otherwise: run it again with the --map, --decimal, ' +
      '--fees, --time-zone, --opening and --closing of that time.',
  )
}

/** Line by line: a text of all of them may be longer than texts can be. */
function readingOf({ read: { lines }, timeZone, moved, fees }: Reconciling): string {
  const hash = createHash('sha256').update(JSON.stringify({ timeZone, moved, fees }))
  for (const line of lines) hash.update(JSON.stringify(line))
  return hash.digest('hex')
}

/** Ids of statements are derived from this. */
const namespace = '6d1b3a52-71a5-5c0e-9b6f-2f1c9f2a8d41'

function sender({ dependencies, actor }: Reconciling, id: string) {
  const { executor, newId } = dependencies
  const envelope = { platform: true, actor, correlation: newId() } as const
  return async (command: Message<StatementCommands>): Promise<Statement> => {
    const { state } = await executor.send(statement, id, command, envelope)
    return state as Statement
  }
}

/** The whole days of its lines, where the operator is. */
function importedAs(asked: Reconciling, through: number): Imported {
  const { read, clock, timeZone, rail, environment, currency } = asked
  const days = read.lines.map(({ at }) => clock.dayOf(at))
  let [first, last] = [days[0]!, days[0]!]
  for (const day of days) {
    if (day < first) first = day
    if (day > last) last = day
  }
  const window = { from: dayOf(first, timeZone).from, to: dayOf(last, timeZone).to }
  const { digest, lines } = read
  const about = { rail, environment, currency, digest, ...window, through }
  return { ...about, lines: lines.length, reading: readingOf(asked) }
}

interface Found {
  readonly findings: readonly Finding[]
  /** What our account moved by in the time of the statement. */
  readonly ours: number
}

async function findingsOf({ pool, read, clock, fees }: Reconciling, imported: Imported): Promise<Found> {
  const { rail, environment, currency, from, to, through } = imported
  const wanted: MovementsAsked = {
    rail,
    livemode: environment === 'live',
    currency,
    from,
    to,
    through,
    around,
  }
  return inReadTransaction(pool, async (moment) => {
    const own: OwnMovement[] = []
    for await (const rows of providerMovements(moment, wanted)) own.push(...rows)
    const settledBefore = await settledEntries(moment, { rail, environment, currency, before: through + 1 })
    const ours = await providerMovement(moment, wanted)
    const foreign = await foreignReferences(moment, read, own)
    const dayOf = (time: string) => clock.dayOf(time)
    return { findings: compare({ lines: read.lines, own, settledBefore, foreign, dayOf, fees }), ours }
  })
}
