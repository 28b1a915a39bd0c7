import type { Receipt } from '../../packages/kernel/ports/proofs.ts'
import { canonicalJson } from './canonical-json.ts'
import { signedCheckpoint, type Checkpoint } from './checkpoint.ts'
import { hashBytes, leafHash, sha256 } from './hashing.ts'
import { isIncluded } from './proofs.ts'
import { unambiguousJson } from './unambiguous-json.ts'
import { MalformedNoteError, type NoteVerifier } from './signed-note.ts'

export interface VerifiedReceipt {
  readonly checkpoint: Checkpoint
  /** What is sealed in the event, where the receipt shows it. */
  readonly personal: unknown
  /** Personal fields were sealed before receipts could prove them: what is shown of them is only said. */
  readonly isUnproven: boolean
}

/** Throws MalformedNoteError with the reason when the receipt does not prove what it says. */
export function verifyReceipt(receipt: Receipt, trusted: readonly NoteVerifier[]): VerifiedReceipt {
  const { event, salt, index, proof, checkpoint: note } = receipt
  const checkpoint = signedCheckpoint(note, trusted)
  const commitment = sha256(
    Buffer.concat([Buffer.from(salt, 'base64url'), Buffer.from(canonicalJson(event))]),
  )
  const path = proof.map((hash) => Buffer.from(hash, 'base64'))
  const isWhole = path.every(({ length }) => length === hashBytes)
  const { size, root } = checkpoint
  if (!isWhole || !isIncluded({ index, size, leaf: leafHash(commitment), proof: path, root }))
    throw new MalformedNoteError(`its event is not leaf ${index} of the ${size} that were signed`)
  return { checkpoint, ...shownIn(receipt) }
}

function shownIn({ event, personal }: Receipt): Pick<VerifiedReceipt, 'personal' | 'isUnproven'> {
  if (personal === null) return { personal: undefined, isUnproven: false }
  const { metadata } = event as { readonly metadata?: { readonly sealed?: { readonly digest?: string } } }
  if (!metadata?.sealed) throw new MalformedNoteError('it shows personal fields, and its event seals none')
  const { digest } = metadata.sealed
  const bytes = Buffer.concat([Buffer.from(personal.blind, 'base64url'), Buffer.from(personal.content)])
  if (digest !== undefined && sha256(bytes).toString('base64url') !== digest)
    throw new MalformedNoteError('the personal fields that it shows are not those of its event')
  return { personal: personalIn(personal.content), isUnproven: digest === undefined }
}

function personalIn(content: string): unknown {
  try {
    return unambiguousJson(content)
  } catch {
    throw new MalformedNoteError('the personal fields that it shows are no JSON that everybody reads alike')
  }
}

/** From JSON that anybody may have written. Throws MalformedNoteError. */
export function parseReceipt(text: string): Receipt {
  const { event, salt, personal, index, proof, checkpoint } = asObject(text)
  const isShown = (value: unknown): value is Receipt['personal'] =>
    value === null || (isObject(value) && isText(value['content']) && isText(value['blind']))
  const isProof = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText)
  if (!isObject(event) || !isText(salt) || !isShown(personal) || !isProof(proof) || !isText(checkpoint))
    throw new MalformedNoteError('it lacks a part of what docs/audit.md says')
  if (typeof index !== 'number' || !Number.isSafeInteger(index) || index < 0)
    throw new MalformedNoteError('its index is no number of a leaf')
  return { event, salt, personal, index, proof, checkpoint }
}

function asObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value = unambiguousJson(text)
    if (isObject(value)) return value
  } catch {
    // It is said below.
  }
  throw new MalformedNoteError('it is no JSON object, or names a member twice')
}

const isText = (value: unknown): value is string => typeof value === 'string'

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
