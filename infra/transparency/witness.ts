import { parseCheckpoint, type Checkpoint } from './checkpoint.ts'
import { emptyRoot, hashBytes } from './hashing.ts'
import { isConsistent } from './proofs.ts'
import {
  MalformedNoteError,
  parseNote,
  signatureLine,
  verifiedSigners,
  type NoteSigner,
  type NoteVerifier,
  type SignedNote,
} from './signed-note.ts'

/** A witness vouches that a log only grows: C2SP's tlog-witness, without HTTP around it. */

export type Seen = Pick<Checkpoint, 'size' | 'root'>

export interface WitnessLogs {
  /** The keys of a log; `undefined` for a log that is not witnessed here. */
  verifiers(origin: string): readonly NoteVerifier[] | undefined
  /**
   * Runs exclusively for this log, with the checkpoint seen last. The checkpoint it returns is stored before
   * it resolves.
   */
  advance<Result>(
    origin: string,
    step: (last: Seen | undefined) => { readonly keep?: Seen; readonly result: Result },
  ): Promise<Result>
}

/** Answer to a request, with its HTTP status. */
export interface WitnessAnswer {
  readonly status: 200 | 400 | 403 | 404 | 409 | 422
  readonly body: string
  readonly contentType?: 'text/x.tlog.size'
}

interface AddCheckpoint {
  readonly oldSize: number
  readonly proof: readonly Buffer[]
  readonly note: SignedNote
  readonly checkpoint: Checkpoint
}

const proofMax = 63

/** Answers `POST /add-checkpoint`. */
export async function addCheckpoint(
  body: string,
  logs: WitnessLogs,
  signer: NoteSigner,
): Promise<WitnessAnswer> {
  try {
    const request = parseRequest(body)
    const { checkpoint, note, oldSize } = request
    const verifiers = logs.verifiers(checkpoint.origin)
    if (!verifiers) return refusal(404, `no log ${checkpoint.origin} is witnessed here`)
    if (!isSigned(note, verifiers)) return refusal(403, 'no known key of the log has signed the checkpoint')
    if (oldSize > checkpoint.size) return refusal(400, 'the old size is beyond the checkpoint')
    return await logs.advance(checkpoint.origin, (last) => step(request, last, signer))
  } catch (error) {
    if (error instanceof MalformedNoteError) return refusal(400, error.message)
    throw error
  }
}

function step(
  { checkpoint, note, oldSize, proof }: AddCheckpoint,
  last: Seen | undefined,
  signer: NoteSigner,
) {
  const { size, root } = checkpoint
  if (oldSize !== (last?.size ?? 0)) {
    const answer = { status: 409, body: `${last?.size ?? 0}\n`, contentType: 'text/x.tlog.size' } as const
    return { result: answer }
  }
  const older = last ?? { size: 0, root: emptyRoot }
  if (!isConsistent({ older, newer: { size, root }, proof }) || (size === 0 && !root.equals(emptyRoot)))
    return { result: refusal(422, 'the checkpoint does not continue the log that was seen before') }
  return {
    keep: { size, root },
    result: { status: 200, body: signatureLine(signer.sign(note.text)) } as const,
  }
}

/** An invalid signature by a known key counts as none. */
function isSigned(note: SignedNote, verifiers: readonly NoteVerifier[]): boolean {
  try {
    return verifiedSigners(note, verifiers).size > 0
  } catch (error) {
    if (error instanceof MalformedNoteError) return false
    throw error
  }
}

function parseRequest(body: string): AddCheckpoint {
  const end = body.indexOf('\n\n')
  const [oldLine = '', ...proofLines] = body.slice(0, Math.max(0, end)).split('\n')
  const [, digits] = /^old (0|[1-9]\d*)$/.exec(oldLine) ?? []
  if (digits === undefined || !Number.isSafeInteger(Number(digits)))
    throw new MalformedNoteError('the first line is not "old" and a size')
  if (proofLines.length > proofMax) throw new MalformedNoteError('the proof is too long')
  const note = parseNote(body.slice(end + 2))
  const proof = proofLines.map(hashOf)
  return { oldSize: Number(digits), proof, note, checkpoint: parseCheckpoint(note.text) }
}

function hashOf(line: string): Buffer {
  const hash = Buffer.from(line, 'base64')
  if (hash.length !== hashBytes || hash.toString('base64') !== line)
    throw new MalformedNoteError(`${JSON.stringify(line)} is not a hash`)
  return hash
}

function refusal(status: 400 | 403 | 404 | 422, sentence: string): WitnessAnswer {
  return { status, body: `${sentence}\n` }
}
