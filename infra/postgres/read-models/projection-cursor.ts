import type { ReadModel } from '../../../packages/kernel/projection.ts'
import type { KeyBloomFilter } from '../idempotency/key-bloom-filter.ts'
import type { DocumentFold } from './document-fold.ts'
import type { Table } from './tables.ts'

/** One read model's progress along the log. */
export interface ProjectionCursor {
  readonly model: ReadModel
  readonly generation: number
  readonly table: Table
  readonly fold: DocumentFold | undefined
  /** Streams parked because a handler threw; all others go on. */
  readonly parked: Set<string>
  /** Which rows may exist while a table that was empty is being filled. */
  written?: KeyBloomFilter | undefined
  position: number
  /** A write has failed but may have been committed: progress is read again before the next one. */
  isUnsure: boolean
}
