import type { ReadModel } from '../../../packages/kernel/projection.ts'
import type { KeyBloomFilter } from '../idempotency/key-bloom-filter.ts'
import type { DocumentFold } from './document-fold.ts'
import type { Table } from './tables.ts'

/** One read model on its way along the log. */
export interface ProjectionCursor {
  readonly model: ReadModel
  readonly generation: number
  readonly table: Table
  readonly fold: DocumentFold | undefined
  /** Streams set aside because a handler threw; the others go on. */
  readonly parked: Set<string>
  /** Which rows may be there, while a table is filled that was empty when it was opened. */
  written?: KeyBloomFilter | undefined
  position: number
  /** A write has failed and may have happened: how far it came is read again before the next one. */
  isUnsure: boolean
}
