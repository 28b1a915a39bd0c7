// Verifies a backup of ikw-payments with nothing but Node: node audit-verifier.mjs <backup> <verifier key> [checkpoint]
// It follows docs/audit.md and shares no code with the service. Exit code 0: every event is what was signed.
import { createHash, createPublicKey, verify } from 'node:crypto'
import { createReadStream, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'

const [directory, verifierKey, notedFile] = process.argv.slice(2)
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
  const committed = { stream, revision, type, schema_version, id, recorded_at, data, metadata: rest }
  return sha256(Buffer.from(salt, 'base64url'), canonical(committed))
}

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

/** 4. A checkpoint: name of the log, size, root; a blank line; signatures. */
function openCheckpoint(note) {
  const [name, id, ...encoded] = verifierKey.split('+')
  const material = Buffer.from(encoded.join('+'), 'base64')
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), material.subarray(1)])
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
  const end = note.lastIndexOf('\n\n')
  const text = note.slice(0, end + 1)
  const isSigned = note
    .slice(end + 2)
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([dash, signer]) => dash === '—' && signer === name)
    .map(([, , signature]) => Buffer.from(signature, 'base64'))
    .some(
      (bytes) =>
        bytes.subarray(0, 4).toString('hex') === id &&
        verify(null, Buffer.from(text), key, bytes.subarray(4)),
    )
  const [origin, length, rootHash] = text.split('\n')
  if (!isSigned || origin !== name)
    throw new Error(`the checkpoint over ${length} events is not signed by ${name}`)
  return { size: Number(length), root: Buffer.from(rootHash, 'base64') }
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
  const text = createReadStream(join(directory, file)).pipe(createGunzip())
  yield* createInterface({ input: text, crlfDelay: Infinity })
}

const published = { checkpoints: [], bundles: [] }
for await (const line of lines('bookkeeping.ndjson.gz')) {
  const space = line.indexOf(' ')
  if (line.startsWith('log_checkpoints ')) published.checkpoints.push(JSON.parse(line.slice(space)).note)
  if (line.startsWith('log_bundles ')) published.bundles.push(JSON.parse(line.slice(space)))
}
const commitments = published.bundles
  .sort((one, other) => one.index - other.index)
  .map((bundle) => bundle.commitments.slice(2))
  .join('')
const notes = notedFile ? [...published.checkpoints, readFileSync(notedFile, 'utf8')] : published.checkpoints
const checkpoints = new Map()
for (const { size, root } of notes.map(openCheckpoint)) {
  if (checkpoints.has(size) && !checkpoints.get(size).equals(root))
    problems.push(`two stories of ${size} events`)
  checkpoints.set(size, root)
}

for await (const line of lines('events.ndjson.gz')) {
  const event = JSON.parse(line)
  const made = commitment(event)
  const signed = commitments.slice(size * 64, size * 64 + 64)
  if (signed !== '' && signed !== made.toString('hex'))
    problems.push(`leaf ${size}: event ${event.id} of ${event.stream} is not what was notarised`)
  addLeaf(leafHash(made))
  const expected = checkpoints.get(size)
  if (expected && !expected.equals(root()))
    problems.push(`the first ${size} events are not those of their checkpoint`)
  checkpoints.delete(size)
  post(event)
}
for (const [missing] of checkpoints)
  if (missing > 0) problems.push(`${missing} events were signed, ${size} are there`)

console.log(
  `${size} events, ${books.size} books, root ${size > 0 ? root().toString('base64') : 'of nothing'}`,
)
console.log(problems.length === 0 ? 'Everything is what was signed.' : problems.slice(0, 20).join('\n'))
process.exitCode = problems.length === 0 ? 0 : 1
