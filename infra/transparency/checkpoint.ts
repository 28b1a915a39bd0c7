import { hashBytes } from './hashing.ts'
import { MalformedNoteError, parseNote, verifiedSigners, type NoteVerifier } from './signed-note.ts'

/** A log's statement about its whole tree, as C2SP's tlog-checkpoint defines it. */
export interface Checkpoint {
  /** The log's name, unique for ever. */
  readonly origin: string
  readonly size: number
  readonly root: Buffer
}

/** The text of the note, without signatures. */
export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${root.toString('base64')}\n`
}

/** Lines beyond the third are extensions, which are skipped. Throws MalformedNoteError. */
export function parseCheckpoint(text: string): Checkpoint {
  const [origin = '', sizeLine = '', rootLine = ''] = text.split('\n')
  const size = Number(sizeLine)
  const root = Buffer.from(rootLine, 'base64')
  if (origin === '') throw new MalformedNoteError('the checkpoint names no log')
  if (!/^(0|[1-9]\d*)$/.test(sizeLine) || !Number.isSafeInteger(size))
    throw new MalformedNoteError(`${JSON.stringify(sizeLine)} is not the size of a tree`)
  if (root.length !== hashBytes || root.toString('base64') !== rootLine)
    throw new MalformedNoteError(`${JSON.stringify(rootLine)} is not the root of a tree`)
  return { origin, size, root }
}

/** The checkpoint of a note. Throws MalformedNoteError unless one of these keys of its log has signed it. */
export function signedCheckpoint(note: string, trusted: readonly NoteVerifier[]): Checkpoint {
  const parsed = parseNote(note)
  const checkpoint = parseCheckpoint(parsed.text)
  if (!verifiedSigners(parsed, trusted).has(checkpoint.origin))
    throw new MalformedNoteError('no key of the log has signed it')
  return checkpoint
}
