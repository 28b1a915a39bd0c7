// Verifies a backup of ikw-payments with nothing but Node: node audit-verifier.mjs <backup> <verifier key> [checkpoint]
// or a receipt: node audit-verifier.mjs --receipt <file> <verifier key>
// It follows docs/audit.md and shares no code with the service. Exit code 0: every event is what was signed.
import { createHash, createPublicKey, verify } from 'node:crypto'
import { createReadStream, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'

// What cannot be read or opened is said in one sentence.
process.on('uncaughtException', ({ message }) => process.exit((console.log(`Not verified: ${message}`), 1)))
const isReceipt = process.argv[2] === '--receipt'
const [place, verifierKeys, notedFile] = process.argv.slice(isReceipt ? 3 : 2)
if (verifierKeys === undefined) throw new Error('name a backup and the verifier key that you trust')
const keys = verifierKeys.split(/\s+/).filter(Boolean)
const problems = []

const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest()
const leafHash = (entry) => sha256(Buffer.of(0), entry)
const nodeHash = (left, right) => sha256(Buffer.of(1), left, right)

/** RFC 8785, for what is in events: no number that JSON.stringify and it would write differently. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.keys(value).sort()
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`
}

/** 2. What an event commits to. */
function commitment({ stream, revision, type, id, data, metadata }) {
  const { version: schema_version, at: recorded_at, salt = '', ...rest } = metadata
  return salted(salt, { stream, revision, type, schema_version, id, recorded_at, data, metadata: rest })
}
const salted = (salt, committed) => sha256(Buffer.from(salt, 'base64url'), canonical(committed))

/** 3. The tree: whole subtrees from left to right, each twice as large as the next or more. */
const subtrees = []
let size = 0
function addLeaf(hash) {
  let node = { hash, leaves: 1 }
  while (subtrees.at(-1)?.leaves === node.leaves) {
    const left = subtrees.pop()
    node = { hash: nodeHash(left.hash, node.hash), leaves: 2 * node.leaves }
  }
  subtrees.push(node)
  size++
}
const root = () => subtrees.map(({ hash }) => hash).reduceRight((right, left) => nodeHash(left, right))

/** 4. The text of a note, when one of the keys has signed it: text, a blank line, signatures. */
function openNote(note) {
  const end = note.lastIndexOf('\n\n')
  const text = note.slice(0, end + 1)
  const lines = note.slice(end + 2).split('\n')
  const isSigned = keys.some((verifierKey) => {
    const [name, id, ...encoded] = verifierKey.split('+')
    const raw = Buffer.from(encoded.join('+'), 'base64').subarray(1)
    const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw])
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    return lines
      .filter((line) => line.startsWith(`— ${name} `) && text.split('\n').includes(name))
      .map((line) => Buffer.from(line.split(' ')[2], 'base64'))
      .filter((bytes) => bytes.subarray(0, 4).toString('hex') === id)
      .some((bytes) => verify(null, Buffer.from(text), key, bytes.subarray(4)))
  })
  if (!isSigned) throw new Error(`no key of yours has signed: ${text.trim().replaceAll('\n', ' ')}`)
  return text
}
/** A checkpoint: name of the log, size, root. */
const sizeOf = (note) => Number(note.split('\n')[1])
const rootOf = (note) => Buffer.from(openNote(note).split('\n')[2], 'base64')

/** 6. A receipt: from the leaf upwards to the root (RFC 9162, 2.1.3.2), and what is sealed in it. */
function receipt({ event, salt, personal, index, proof, checkpoint }) {
  let hash = leafHash(salted(salt, event))
  let [at, last] = [index, sizeOf(checkpoint) - 1]
  for (const sibling of proof.map((text) => Buffer.from(text, 'base64'))) {
    const isRight = at % 2 === 1 || at === last
    hash = isRight ? nodeHash(sibling, hash) : nodeHash(hash, sibling)
    while (isRight && at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)]
    ;[at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  }
  if (index >= sizeOf(checkpoint) || last !== 0 || !hash.equals(rootOf(checkpoint)))
    problems.push('the event is not what was signed')
  const { digest } = event.metadata.sealed ?? {}
  const shown = personal && sha256(Buffer.from(personal.blind, 'base64url'), personal.content)
  if (shown && digest !== shown.toString('base64url')) problems.push('what it shows sealed is not proved')
  console.log(`${event.type} of ${event.stream}: leaf ${index} of ${sizeOf(checkpoint)}`)
}

/** 5. Books: debits equal credits in every entry, and all accounts of a book together are zero. */
const books = new Map()
function post({ stream, data }) {
  if (!stream.startsWith('ledger-') || !Array.isArray(data.postings)) return
  let sum = 0n
  for (const { side, amount } of data.postings) sum += side === 'debit' ? BigInt(amount) : -BigInt(amount)
  if (sum !== 0n) problems.push(`entry ${data.entryId} of ${stream} is out of balance by ${sum}`)
  books.set(stream, (books.get(stream) ?? 0n) + sum)
}

async function* lines(file) {
  const text = createReadStream(join(place, file)).pipe(createGunzip())
  yield* createInterface({ input: text, crlfDelay: Infinity })
}

async function backup() {
  const bundles = []
  const checkpoints = new Map()
  const publish = (note) => checkpoints.set(sizeOf(note), [...(checkpoints.get(sizeOf(note)) ?? []), note])
  if (notedFile) publish(readFileSync(notedFile, 'utf8'))
  for await (const line of lines('bookkeeping.ndjson.gz')) {
    const row = /^log_(checkpoints|bundles) (.*)/.exec(line)
    if (row?.[1] === 'checkpoints') publish(JSON.parse(row[2]).note)
    if (row?.[1] === 'bundles') bundles[JSON.parse(row[2]).index] = JSON.parse(row[2]).commitments.slice(2)
  }
  if (checkpoints.size === 0) problems.push('nobody has signed any of the events')
  const signedUpTo = [...checkpoints.keys()].reduce((one, other) => Math.max(one, other), 0)
  const manifest = JSON.parse(readFileSync(join(place, 'manifest.json'), 'utf8'))
  const minuteBefore = Date.parse(manifest.at) - 60_000
  for await (const line of lines('events.ndjson.gz')) {
    const event = eventIn(line)
    if (size >= signedUpTo && Date.parse(event.metadata.at) < minuteBefore)
      problems.push(`leaf ${size}: event ${event.id} of ${event.stream} was never signed`)
    const made = commitment(event)
    const signed = bundles[Math.floor(size / 256)]?.slice((size % 256) * 64, (size % 256) * 64 + 64) ?? ''
    if (signed !== '' && signed !== made.toString('hex'))
      problems.push(`leaf ${size}: event ${event.id} of ${event.stream} is not what was notarised`)
    // 4. The next key of the log, announced by the one before.
    if (event.type === 'LogKeyAnnounced') keys.push(openNote(event.data.note).split('\n')[2])
    addLeaf(leafHash(made))
    for (const note of checkpoints.get(size) ?? [])
      if (!rootOf(note).equals(root()))
        problems.push(`the first ${size} events are not those of a checkpoint`)
    checkpoints.delete(size)
    post(event)
  }
  for (const [more] of checkpoints)
    if (more > 0) problems.push(`${more} events were signed, ${size} are there`)
  if (manifest.events !== size)
    problems.push(`manifest.json tells of ${manifest.events} events, ${size} are there`)
  const unsigned = size > signedUpTo ? ` (the last ${size - signedUpTo} not signed yet)` : ''
  console.log(
    `${size} events${unsigned}, ${books.size} books with entries, root ${size > 0 ? root().toString('base64') : 'of nothing'}`,
  )
}

function eventIn(line) {
  try {
    const event = JSON.parse(line)
    if (event.metadata && event.data) return event
  } catch {}
  throw new Error(`line ${size + 1} of events.ndjson.gz is no event`)
}

if (isReceipt) receipt(JSON.parse(readFileSync(place, 'utf8')))
else await backup()
console.log(problems.length === 0 ? 'Everything is what was signed.' : problems.slice(0, 20).join('\n'))
process.exitCode = problems.length === 0 ? 0 : 1
