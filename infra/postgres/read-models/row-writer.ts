import type { Change, Projection, RecordedEvent, Row } from '../../../packages/kernel/projection.ts'
import { TableChanges, upserting, type TableWrite } from './changes.ts'
import { CopyRows } from '../client/copy-rows.ts'
import type { DocumentFold } from './document-fold.ts'
import type { ProjectionCursor } from './projection-cursor.ts'
import type { Table } from './tables.ts'
import type { KeyBloomFilter } from '../idempotency/key-bloom-filter.ts'

/** What events change in one read model's table. */
export interface RowWriter {
  apply(event: RecordedEvent): void
  /** Ends it: returns how it is written, whatever is folded meanwhile. */
  take(): readonly TableWrite[]
}

export function rowsOf({ model, table, fold, written }: ProjectionCursor): RowWriter {
  if (fold) return documentRows(table, fold)
  if (model.kind === 'documents') throw new Error(`nobody folds ${model.name}`)
  return model.appendOnly ? grownRows(model, table) : changedRows(model, table, written)
}

function documentRows(table: Table, fold: DocumentFold): RowWriter {
  return { apply: (event) => fold.apply(event), take }

  /** States are serialised here and now: the next event may modify them. */
  function take(): readonly TableWrite[] {
    const { added, changed } = fold.take()
    const addedRows = new CopyRows(table.columns)
    addedRows.add(added)
    const changedRows = JSON.stringify(changed)
    const writes: TableWrite[] = []
    if (added.length > 0) writes.push({ table, added: () => addedRows.take() })
    if (changed.length > 0) writes.push({ statement: upserting(table), rows: () => changedRows })
    return writes
  }
}

/** Rows that are not needed again become bytes at once. */
function grownRows({ name, on }: Projection, table: Table): RowWriter {
  const rows = new CopyRows(table.columns)
  return { apply, take: () => (rows.isEmpty ? [] : [{ table, added: () => rows.take() }]) }

  function apply(event: RecordedEvent): void {
    rows.add(on[event.type]!(event as RecordedEvent<never>).map(added))
  }

  function added(change: Change): Row {
    if ('put' in change && change.isNew) return change.put
    throw new Error(`${name} only grows, but an event changes one of its rows`)
  }
}

function changedRows({ on }: Projection, table: Table, written: KeyBloomFilter | undefined): RowWriter {
  const changes = new TableChanges(table, written)
  return { apply, take: () => changes.take() }

  function apply(event: RecordedEvent): void {
    for (const change of on[event.type]!(event as RecordedEvent<never>)) changes.apply(change)
  }
}
