import type { Entry } from '../packages/domain/ledger/events.ts'
import type { Change, RecordedEvent } from '../packages/kernel/projection.ts'

export type EntryRecorded = RecordedEvent<Entry>

/** The same for each kind of event that is a journal entry. */
export function everyEntry(handle: (event: EntryRecorded) => readonly Change[]) {
  return {
    EntryPosted: handle,
    HoldPlaced: handle,
    HoldAdvanced: handle,
    HoldPosted: handle,
    HoldVoided: handle,
  }
}
