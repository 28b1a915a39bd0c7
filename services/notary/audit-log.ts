import type pg from 'pg'
import type { GiveWay } from '../../infra/event-loop/turns.ts'
import { Checkpoints } from '../../infra/postgres/consumers/checkpoints.ts'
import { NoSpaceLeftError } from '../../infra/history/spare-space.ts'
import type { AuditFindings, ComparedEvents } from '../../infra/postgres/transparency/audit-findings.ts'
import { keptLog, leavesKept } from '../../infra/postgres/transparency/kept-log.ts'
import { TreeStore } from '../../infra/postgres/transparency/tree-store.ts'
import type { GrowingTree } from '../../infra/transparency/tree.ts'
import { deciders } from '../../packages/domain/index.ts'
import type { EventStore, StoredEvent } from '../../packages/kernel/ports.ts'
import { readModels } from '../../projections/index.ts'
import type { Difference } from '../audit/differences.ts'
import { compareReadModels } from '../audit/compare.ts'
import { TreeAudit, type TreeFinding } from '../audit/tree-audit.ts'
import { verifyLog } from '../audit/verify.ts'
import { breathing, eventsAtOnce, pacedStore, yielding, type Pace } from './paced.ts'

export interface Audited {
  readonly pool: pg.Pool
  /** As the events are stored. */
  readonly stored: EventStore
  /** As they are read. */
  readonly store: EventStore
  /** Keys that only whoever has the master key can have put there. */
  readonly verifierKeys: () => Promise<readonly string[]>
  /** Keys of the witnesses that the service has. */
  readonly witnesses: readonly string[]
  readonly now: () => Date
  /** Awaited before each piece of work, where requests are answered beside it. */
  readonly giveWay?: GiveWay
  /** Where the audit may keep what does not fit into memory. */
  readonly directory?: string
  /** Left out: a tenth of the disk, at most 1 GiB. */
  readonly keepFreeBytes?: number
}

/** Of new events, which are read before each pause. */
const eventsPerRead = 200

/** What was found, and how far: kept together, so that nothing is lost when another process goes on. */
export type Progress = Pick<AuditFindings, 'compared' | 'add'>

/** Compares what was added to the log with what was signed of it, again and again. */
export class NewEvents {
  readonly #audited: Audited
  readonly #progress: Progress
  readonly #breathe: () => Promise<void>
  #tree: GrowingTree | undefined
  #position = 0

  constructor(audited: Audited, progress: Progress, pace: Pace) {
    this.#audited = audited
    this.#progress = progress
    this.#breathe = yielding(pace)
  }

  /** What is wrong with the events that were signed since last time, by whichever process. */
  async look(): Promise<readonly string[]> {
    const { pool, verifierKeys, witnesses } = this.#audited
    const lost = this.#tree ? [] : await this.#open()
    const tree = this.#tree!
    const from = tree.size
    const edge = await keptLog({ pool, verifierKeys: await verifierKeys(), from })
    const size = edge?.log.size ?? 0
    if (size === from) return lost
    // Where this ends with an error, the next look compares the same again.
    this.#tree = undefined
    if (!edge || size < from) {
      const problem = `the log had signed ${from} events, and its newest checkpoint is over ${size}`
      await this.#progress.add([problem], { size, position: edge?.position ?? 0 })
      return [...lost, problem]
    }
    const audit = new TreeAudit(edge.log, { tree, witnesses })
    const position = await this.#apply(audit, size)
    await audit.end()
    const problems = audit.findings.map(sentenceOf)
    if (problems.length === 0) {
      await this.#progress.add([], { size, position, root: audit.root() })
      this.#tree = audit.tree
      this.#position = position
      // After a finding the published tree is gone on from: the rest of it may be right.
    } else await this.#progress.add(problems, { size, position: edge.position })
    return [...lost, ...problems]
  }

  /** Goes on where the last look ended. */
  async #open(): Promise<readonly string[]> {
    const trees = new TreeStore(this.#audited.pool)
    const compared = await this.#progress.compared()
    const newest = await trees.open()
    const problem = compared && (await this.#lost(compared, trees, newest.tree.size))
    const { tree, position } = compared && !problem ? await trees.open(compared) : newest
    if (!compared || problem)
      await this.#progress.add(problem ? [problem] : [], { size: tree.size, position, root: tree.root() })
    this.#tree = tree
    this.#position = position
    return problem ? [problem] : []
  }

  /** What is wrong with the tree over the events that were compared before. */
  async #lost({ size, position, root }: ComparedEvents, trees: TreeStore, newest: number) {
    if (size > newest) return `the log had signed ${size} events, and its newest checkpoint is over ${newest}`
    if (!root || (await trees.open({ size, position })).tree.root().equals(root)) return undefined
    return `the tree over the first ${size} events is not the one that they were compared with`
  }

  /** Returns the position of the last event. */
  async #apply(audit: TreeAudit, size: number): Promise<number> {
    let position = this.#position
    while (audit.size < size) {
      const limit = Math.min(eventsPerRead, size - audit.size)
      const events = await this.#audited.stored.readAll(position, limit)
      if (events.length === 0) break
      await this.#applyInPieces(audit, events)
      position = events.at(-1)!.position
      await this.#breathe()
    }
    return position
  }

  async #applyInPieces(audit: TreeAudit, events: readonly StoredEvent[]): Promise<void> {
    for (let at = 0; at < events.length; at += eventsAtOnce) {
      await this.#audited.giveWay?.()
      await audit.apply(events.slice(at, at + eventsAtOnce))
    }
  }
}

/** Compares the whole log, as slowly as it may take, with its tree, the books and the read models. */
export async function auditWholeLog(audited: Audited, pace: Pace): Promise<WholeAudit> {
  const { pool, stored, verifierKeys, witnesses, now } = audited
  const edge = await keptLog({ pool, verifierKeys: await verifierKeys() })
  const { position: policiesThrough } = await new Checkpoints(pool).load('policies')
  const tree = edge && new TreeAudit(edge.log, { witnesses })
  const bare = edge ? 0 : await leavesKept(pool)
  const slow = pacedStore(stored, pace)
  const readOn = async function* (after: number) {
    for await (const events of slow.readOn(after)) {
      if (tree) await tree.apply(upTo(events, edge.log.size - tree.size))
      yield events
    }
  }
  const { violations, position } = await verifyLog({
    store: { ...slow, readOn },
    deciders,
    policiesThrough,
    now: now(),
    onProgress: () => undefined,
  })
  await tree?.end()
  let uncompared: string | undefined
  const differences = await comparedReadModels(audited, pace).catch((error: unknown) => {
    if (error instanceof NoSpaceLeftError) uncompared = error.message
    // Events that were changed may not be readable at all; that they were is the finding.
    else if (!tree || tree.findings.length === 0 || pace.signal.aborted) throw error
    return []
  })
  const problems = [
    ...(tree?.findings ?? []).map(sentenceOf),
    ...(bare > 0 ? [`nobody has signed any of the ${bare} events`] : []),
    ...violations
      .filter(({ isToldElsewhere }) => !isToldElsewhere)
      .map(({ rule, problem }) => `${rule}: ${problem}`),
    ...differences.filter(({ isToldElsewhere }) => !isToldElsewhere).map(readModelFault),
  ]
  return { problems, position, events: tree?.size ?? 0, ...(uncompared !== undefined && { uncompared }) }
}

async function comparedReadModels({ pool, store, directory, keepFreeBytes }: Audited, pace: Pace) {
  const { differences } = await compareReadModels({
    pool,
    store: pacedStore(store, pace),
    models: readModels,
    deciders,
    rowsPerPass,
    ...(directory !== undefined && { directory }),
    ...(keepFreeBytes !== undefined && { keepFreeBytes }),
    onProgress: () => undefined,
    breathe: breathing(pace),
  })
  return differences
}

export interface WholeAudit {
  readonly problems: readonly string[]
  readonly position: number
  readonly events: number
  /** Why the read models were not looked at, if they were not. */
  readonly uncompared?: string
}

/** Of read models: fewer than by hand, since the service has other things to remember. */
const rowsPerPass = 100_000

function upTo(events: readonly StoredEvent[], count: number): readonly StoredEvent[] {
  return events.length <= count ? events : events.slice(0, Math.max(0, count))
}

function sentenceOf({ leaf, problem }: TreeFinding): string {
  return leaf === undefined ? problem : `leaf ${leaf}: ${problem}`
}

/** Values may be personal, and this is logged: who may see them asks `ikw ledger replay`. */
function readModelFault({ model, row, problem, column }: Difference): string {
  return `read model ${model} ${row}: ${column === undefined ? problem : `${column} is not what the log says`}`
}
