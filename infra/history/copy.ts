import type { EventStore, StoredEvent } from '../../packages/kernel/ports.ts'
import { compareHistories, type Comparison } from './digest.ts'
import { historyOf, type History } from './store-pages.ts'

/** A history to be copied or restored, with its id. */
export interface HistorySource extends History {
  readonly id: string
}

/** A store that receives a history: empty, or left over from an interrupted run of the same copy. */
export interface HistoryTarget {
  readonly store: EventStore
  /** Id of the history in it; undefined when it is empty. */
  readonly id: string | undefined
  /** Everything before this is certainly written; after it there may be gaps. */
  readonly surelyThrough: number
  /** From now until `complete`, no service may run on this store. */
  begin(id: string): Promise<void>
  /** The next events, with their original positions. */
  write(events: readonly StoredEvent[]): Promise<void>
  complete(id: string): Promise<void>
  close(): Promise<void>
}

/** The target cannot take this history: a sentence for the caller. */
export class CannotCopyError extends Error {
  override readonly name = 'CannotCopyError'
}

export interface CopyProgress {
  readonly onWritten: (position: number, of: number) => void
  readonly onCompared: (position: number, of: number) => void
}

export interface Copied extends Comparison {
  /** Events written by this run: fewer than all after an interrupted one. */
  readonly written: number
}

/**
 * Copies a history with its positions, reads both sides back and compares them. An interrupted copy resumes.
 * When both agree, the caller completes the target.
 */
export async function copyHistory(
  source: HistorySource,
  target: HistoryTarget,
  { onWritten, onCompared }: CopyProgress,
): Promise<Copied> {
  const start = await resumeAfter(source, target)
  const through = await source.head()
  await target.begin(source.id)
  let written = 0
  for await (const events of source.pages(start, through)) {
    await target.write(events)
    written += events.length
    onWritten(events.at(-1)!.position, through)
  }
  const compared = await compareHistories(source, historyOf(target.store), {
    through,
    onProgress: (position) => onCompared(position, through),
  })
  if ((await source.head()) !== through) {
    throw new CannotCopyError('The source has grown meanwhile: stop every service on it, then copy again.')
  }
  return { ...compared, written }
}

export function agrees({ source, target, differences }: Comparison): boolean {
  return differences.length === 0 && source.sha256 === target.sha256
}

const other = 'The target holds something else than a part of this history: copy into an empty store.'

/** The position after which the copy resumes; throws when the target holds something else. */
async function resumeAfter(source: HistorySource, target: HistoryTarget): Promise<number> {
  const head = await target.store.head()
  if (target.id !== undefined && target.id !== source.id) throw new CannotCopyError(other)
  if (head === 0) return 0
  if (target.id === undefined || head > (await source.head())) throw new CannotCopyError(other)
  const original = eventsOf(source.pages(target.surelyThrough, head))
  for await (const copied of eventsOf(historyOf(target.store).pages(target.surelyThrough, head))) {
    const { value } = await original.next()
    const isSame = value && value.id === copied.id && value.position === copied.position
    if (!isSame) throw new CannotCopyError(other)
  }
  if (!(await original.next()).done) throw new CannotCopyError(other)
  return head
}

/** One by one: pages of different stores are cut at different places. */
async function* eventsOf(pages: AsyncIterable<readonly StoredEvent[]>): AsyncGenerator<StoredEvent, void> {
  for await (const page of pages) yield* page
}
