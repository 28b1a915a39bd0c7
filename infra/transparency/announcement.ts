import { MalformedNoteError, parseNote, verifiedSigners, writeNote } from './signed-note.ts'
import type { NoteSigner, NoteVerifier } from './signed-note.ts'

/** By which the key of a log names the next one. It stands in the log, so it cannot be taken back. */

/** Type of the event whose `note` is the announcement. */
export const announcementType = 'LogKeyAnnounced'

const title = 'ikw-payments: the next key of this log'

/** A note signed by the key that is in use. */
export function announcementOf(next: Pick<NoteSigner, 'verifierKey'>, current: NoteSigner): string {
  const text = `${title}\n${current.name}\n${next.verifierKey}\n`
  return writeNote({ text, signatures: [current.sign(text)] })
}

/** The verifier key that is announced. Throws MalformedNoteError unless one of these keys has signed it. */
export function announcedKey(note: string, trusted: readonly NoteVerifier[]): string {
  const parsed = parseNote(note)
  const [first, origin, key = ''] = parsed.text.split('\n')
  if (first !== title) throw new MalformedNoteError('it announces no key')
  if (!verifiedSigners(parsed, trusted).has(origin!))
    throw new MalformedNoteError('no key of the log has announced it')
  return key
}
