import type { ExecutorOptions } from './options.ts'
import { OutcomeUnknownError, VersionConflictError, type Appended, type NewEvent } from '../ports.ts'

/** Pauses before an append of unknown outcome is repeated, with the same event ids. */
const repeatDelaysMs = [20, 100, 500, 1_000, 2_000]

interface Append {
  readonly expected: number
  readonly events: readonly NewEvent[]
}

/**
 * An append of unknown outcome is repeated with the same ids until its outcome is known: it is never reported
 * as failed.
 */
export async function appendUntilKnown(
  { store, pause }: Pick<ExecutorOptions, 'store' | 'pause'>,
  stream: string,
  { expected, events }: Append,
): Promise<Appended> {
  let unknown: OutcomeUnknownError | undefined
  for (const delayMs of [...repeatDelaysMs, undefined]) {
    try {
      return await store.append(stream, expected, events)
    } catch (error) {
      if (error instanceof OutcomeUnknownError) unknown = error
      // A refused repeat says nothing about the try before; a conflict proves that it cannot happen any more.
      if (!unknown || error instanceof VersionConflictError) throw error
      if (delayMs === undefined) throw unknown
      await pause(delayMs)
    }
  }
  throw new Error('unreachable')
}
