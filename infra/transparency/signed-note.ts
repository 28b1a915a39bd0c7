import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { sha256 } from './hashing.ts'

/** Texts with signatures below, as C2SP's signed-note defines them; compatible with Go's sumdb/note. */

/** Ed25519 over the text. */
const ed25519 = 0x01
/** Ed25519 over the text and the time at which a witness saw it. */
const cosignatureV1 = 0x04

type Algorithm = typeof ed25519 | typeof cosignatureV1

export interface NoteSignature {
  readonly name: string
  /** Four bytes that tell apart keys of the same name. */
  readonly keyId: Buffer
  readonly signature: Buffer
}

export interface SignedNote {
  /** Ends with a line feed. */
  readonly text: string
  readonly signatures: readonly NoteSignature[]
}

export interface NoteSigner {
  readonly name: string
  readonly verifierKey: string
  sign(text: string): NoteSignature
}

export interface NoteVerifier {
  readonly name: string
  readonly keyId: Buffer
  /** The cosignature's time in seconds; `true` for a signature without one, `false` for none. */
  verify(text: string, signature: Buffer): number | boolean
}

/** The note is malformed; the message says where. */
export class MalformedNoteError extends Error {
  override readonly name = 'MalformedNoteError'
}

const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex')
const spkiHead = Buffer.from('302a300506032b6570032100', 'hex')
const seedBytes = 32
const publicKeyBytes = 32
const keyIdBytes = 4
const timestampBytes = 8
const nameShape = /^[^\s+\p{Cc}]+$/u

/** Signs as a log does. `seed`: the 32 bytes of an Ed25519 private key. */
export function noteSigner(name: string, seed: Uint8Array): NoteSigner {
  const { key, publicKey } = keyOf(seed)
  const keyId = keyIdOf(name, ed25519, publicKey)
  return {
    name,
    verifierKey: verifierKeyOf(name, ed25519, publicKey),
    sign: (text) => ({ name, keyId, signature: sign(null, Buffer.from(text), key) }),
  }
}

/** Signs as a witness does, with the time. */
export function cosigner(name: string, seed: Uint8Array, now: () => Date): NoteSigner {
  const { key, publicKey } = keyOf(seed)
  const keyId = keyIdOf(name, cosignatureV1, publicKey)
  return {
    name,
    verifierKey: verifierKeyOf(name, cosignatureV1, publicKey),
    sign(text) {
      const seconds = Math.floor(now().getTime() / 1_000)
      const timestamp = Buffer.alloc(timestampBytes)
      timestamp.writeBigUInt64BE(BigInt(seconds))
      const signature = sign(null, cosignedMessage(seconds, text), key)
      return { name, keyId, signature: Buffer.concat([timestamp, signature]) }
    },
  }
}

/** From a verifier key, `<name>+<key id>+<base64>`. Throws MalformedNoteError. */
export function noteVerifier(verifierKey: string): NoteVerifier {
  const [, name = '', id = '', encoded = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(verifierKey) ?? []
  const material = Buffer.from(encoded, 'base64')
  const [algorithm, publicKey] = [material[0], material.subarray(1)]
  const isKnown = algorithm === ed25519 || algorithm === cosignatureV1
  if (!nameShape.test(name) || !isKnown || publicKey.length !== publicKeyBytes)
    throw new MalformedNoteError(`${verifierKey} is not a verifier key of Ed25519`)
  const keyId = keyIdOf(name, algorithm, publicKey)
  if (keyId.toString('hex') !== id)
    throw new MalformedNoteError(`${verifierKey} does not have the id of its key`)
  const key = createPublicKey({ key: Buffer.concat([spkiHead, publicKey]), format: 'der', type: 'spki' })
  if (algorithm === ed25519)
    return { name, keyId, verify: (text, signature) => verify(null, Buffer.from(text), key, signature) }
  return {
    name,
    keyId,
    verify(text, signature) {
      if (signature.length <= timestampBytes) return false
      const seconds = Number(signature.readBigUInt64BE(0))
      const isValid = verify(null, cosignedMessage(seconds, text), key, signature.subarray(timestampBytes))
      return isValid && seconds
    },
  }
}

/** The text with a line for each signature below it. */
export function writeNote({ text, signatures }: SignedNote): string {
  return `${text}\n${signatures.map(signatureLine).join('')}`
}

export function signatureLine({ name, keyId, signature }: NoteSignature): string {
  return `— ${name} ${Buffer.concat([keyId, signature]).toString('base64')}\n`
}

const noteBytesMax = 1_000_000
const signaturesMax = 100

/** Throws MalformedNoteError for what is not a note; signatures are not verified here. */
export function parseNote(note: string): SignedNote {
  // Notes come from outside, in events too.
  if (typeof note !== 'string') throw new MalformedNoteError('it is no text')
  if (Buffer.byteLength(note) > noteBytesMax) throw new MalformedNoteError('the note is too long')
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u0009\u000b-\u001f\ufffd]/.test(note))
    throw new MalformedNoteError('the note has control characters')
  const end = note.lastIndexOf('\n\n')
  if (end < 0 || !note.endsWith('\n')) throw new MalformedNoteError('no blank line parts text and signatures')
  const lines = note.slice(end + 2, -1).split('\n')
  if (lines.length > signaturesMax) throw new MalformedNoteError('the note has too many signatures')
  return { text: note.slice(0, end + 1), signatures: lines.map(parseSignature) }
}

export function parseSignature(line: string): NoteSignature {
  const [, name = '', encoded = ''] = /^— (\S+) ([A-Za-z0-9+/]+={0,2})$/.exec(line) ?? []
  const bytes = Buffer.from(encoded, 'base64')
  if (!nameShape.test(name) || bytes.length <= keyIdBytes)
    throw new MalformedNoteError(`${JSON.stringify(line)} is not a signature`)
  return { name, keyId: bytes.subarray(0, keyIdBytes), signature: bytes.subarray(keyIdBytes) }
}

/**
 * The names whose signatures are valid, each with its time. Signatures by unknown keys are skipped; an
 * invalid one by a known key makes the whole note malformed.
 */
export function verifiedSigners(
  { text, signatures }: SignedNote,
  verifiers: readonly NoteVerifier[],
): ReadonlyMap<string, number | true> {
  const signers = new Map<string, number | true>()
  for (const { name, keyId, signature } of signatures) {
    const verifier = verifiers.find((one) => one.name === name && one.keyId.equals(keyId))
    if (!verifier) continue
    const verified = verifier.verify(text, signature)
    if (verified === false) throw new MalformedNoteError(`the signature of ${name} does not hold`)
    signers.set(name, verified)
  }
  return signers
}

function keyOf(seed: Uint8Array): { readonly key: KeyObject; readonly publicKey: Buffer } {
  if (seed.length !== seedBytes) throw new Error(`a seed of Ed25519 has 32 bytes, not ${seed.length}`)
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Head, seed]), format: 'der', type: 'pkcs8' })
  const der = createPublicKey(key).export({ format: 'der', type: 'spki' })
  return { key, publicKey: der.subarray(spkiHead.length) }
}

function keyIdOf(name: string, algorithm: Algorithm, publicKey: Buffer): Buffer {
  if (!nameShape.test(name)) throw new MalformedNoteError(`${JSON.stringify(name)} cannot be a key's name`)
  const described = Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(algorithm), publicKey])
  return sha256(described).subarray(0, keyIdBytes)
}

function verifierKeyOf(name: string, algorithm: Algorithm, publicKey: Buffer): string {
  const id = keyIdOf(name, algorithm, publicKey).toString('hex')
  return `${name}+${id}+${Buffer.concat([Buffer.of(algorithm), publicKey]).toString('base64')}`
}

function cosignedMessage(seconds: number, text: string): Buffer {
  return Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`)
}
