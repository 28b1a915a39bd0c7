// node audit-verifier.mjs <backup> <verifier keys> [checkpoint], or --receipt <file> <verifier keys>: follows
// docs/audit.md with nothing but Node and shares no code with the service. Exit code 0: all is what was signed.
import { createHash, createPublicKey, verify } from 'node:crypto'
import { createReadStream, readFileSync } from 'node:fs'
import { createGunzip } from 'node:zlib'

process.on('uncaughtException', ({ message }) => process.exit((console.log(`Not verified: ${message}`), 1)))
const isReceipt = process.argv[2] === '--receipt'
const [place, verifierKeys, notedFile] = process.argv.slice(isReceipt ? 3 : 2)
if (verifierKeys === undefined) throw new Error('name a backup and the verifier key that you trust')
const keys = verifierKeys.split(/\s+/).filter(Boolean)
const problems = []
let verdict = 'Everything is what was signed.'
const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest()
const leafHash = (entry) => sha256(Buffer.of(0), entry)
const nodeHash = (left, right) => sha256(Buffer.of(1), left, right)

/** Where an object names a member twice, other programs would read the other one. */
function parse(text) {
  const [value, strings] = [JSON.parse(text), /"(?:[^"\\]|\\.)*"/g]
  const [given, read] = [text, JSON.stringify(value)].map((json) => json.replace(strings, '').split(':'))
  if (given.length !== read.length) throw new Error('a member is named twice')
  return value
}

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

/** 3. The tree: roots of whole subtrees, the largest first: one for each binary one in its size. */
const subtrees = []
let size = 0
function addLeaf(hash) {
  for (let rest = size++; rest % 2 === 1; rest = (rest - 1) / 2) hash = nodeHash(subtrees.pop(), hash)
  subtrees.push(hash)
}
const root = () => subtrees.reduceRight((right, left) => nodeHash(left, right)).toString('base64')

/** 4. The text of a note, when a key has signed it whose name (and what is behind it) is a line of the text. */
function openNote(note, behind = '') {
  const text = note.slice(0, note.lastIndexOf('\n\n') + 1)
  const isSigned = keys.some((verifierKey) => {
    const [name, , ...encoded] = verifierKey.split('+')
    const x = Buffer.from(encoded.join('+'), 'base64').subarray(1).toString('base64url')
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    const lines = note.split('\n').filter((line) => line.startsWith(`— ${name} `))
    const signatures = lines.map((line) => Buffer.from(line.split(' ')[2], 'base64').subarray(4))
    const isNamed = text.split('\n').includes(`${name}${behind}`)
    return isNamed && signatures.some((signature) => verify(null, Buffer.from(text), key, signature))
  })
  if (!isSigned) throw new Error(`no key of yours has signed: ${text.trim().replaceAll('\n', ' ')}`)
  return text
}
/** A checkpoint, not opened yet: name of the log, size, root. What has no size could never be compared. */
function checkpointIn(note) {
  const [, size, signedRoot] = note.split('\n')
  if (!/^[1-9]\d{0,15}$/.test(size)) throw new Error('a checkpoint has no size')
  return { size: Number(size), signedRoot, note }
}

/** 7. A receipt: from the leaf upwards to the root (RFC 9162, 2.1.3.2), and what is sealed in it. */
function receipt({ event, salt, personal, index, proof, checkpoint }) {
  const { size, signedRoot } = checkpointIn(openNote(checkpoint))
  let [at, last, hash] = [index, size - 1, leafHash(salted(salt, event))]
  for (const sibling of proof.map((text) => Buffer.from(text, 'base64'))) {
    const isRight = at % 2 === 1 || at === last
    hash = isRight ? nodeHash(sibling, hash) : nodeHash(hash, sibling)
    while (isRight && at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)]
    ;[at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  }
  const isLeaf = Number.isSafeInteger(index) && index >= 0 && index < size && last === 0
  if (!isLeaf || hash.toString('base64') !== signedRoot) problems.push('the event is not what was signed')
  const { digest } = event.metadata.sealed ?? {}
  const shown = personal && sha256(Buffer.from(personal.blind, 'base64url'), personal.content)
  if (shown && !event.metadata.sealed) problems.push('it shows what its event does not seal')
  else if (shown && digest === undefined)
    verdict = 'The event is what was signed; what it shows sealed is only said.'
  else if (shown?.equals(Buffer.from(digest, 'base64url')) === false)
    problems.push('what it shows sealed is not proved')
  console.log(`${event.type} of ${event.stream}: leaf ${index} of ${size}`)
}

/** 8. A closed month is what its note says. */
function closedMonth({ stream, data: { note, timeZone, from, to, books, checkpoint } }) {
  const digest = sha256(canonical({ timeZone, from, to, books, checkpoint })).toString('base64')
  const isAbout = openNote(note, '/periods').endsWith(`/periods\n${stream.slice(7)}\n${digest}\n`)
  if (!isAbout) problems.push(`the closed month ${stream} is not what was signed`)
}

/** 5. Books: debits equal credits in every entry. */
const books = new Set()
function post({ stream, data }) {
  if (!stream.startsWith('ledger-') || !Array.isArray(data.postings)) return
  books.add(stream)
  let sum = 0n
  for (const { side, amount } of data.postings) sum += side === 'debit' ? BigInt(amount) : -BigInt(amount)
  if (sum !== 0n) problems.push(`entry ${data.entryId} of ${stream} is out of balance by ${sum}`)
}

/** They end with a line feed, and with nothing else that readline takes for an end. */
async function* lines(file) {
  let last = ''
  for await (const text of createReadStream(`${place}/${file}`).pipe(createGunzip()).setEncoding('utf8')) {
    const [end, ...next] = text.split('\n')
    last += end
    for (const line of next) yield [last, (last = line)][0]
  }
  if (last !== '') yield last
}
function eventIn(line) {
  try {
    const event = parse(line)
    if (event.metadata && event.data && typeof event.stream === 'string') return event
  } catch {}
  throw new Error(`line ${size + 1} of events.ndjson.gz is no event`)
}

async function backup() {
  const bundles = []
  const checkpoints = notedFile ? [checkpointIn(readFileSync(notedFile, 'utf8'))] : []
  for await (const line of lines('bookkeeping.ndjson.gz')) {
    const [, table, text] = /^([a-z_]+) (\{.*\})$/.exec(line) ?? []
    if (!table) throw new Error('a line of bookkeeping.ndjson.gz is no row of a table')
    const row = parse(text)
    if (table === 'log_checkpoints') checkpoints.push(checkpointIn(row.note))
    if (table === 'log_bundles') bundles[row.index] = row.commitments.slice(2)
  }
  checkpoints.sort((one, other) => other.size - one.size)
  const signedUpTo = checkpoints[0]?.size ?? 0
  if (signedUpTo === 0) problems.push('nobody has signed any of the events')
  const manifest = parse(readFileSync(`${place}/manifest.json`, 'utf8'))
  for await (const line of lines('events.ndjson.gz')) {
    const event = eventIn(line)
    const name = `leaf ${size}: event ${event.id} of ${event.stream}`
    if (size >= signedUpTo && !(Date.parse(event.metadata.at) >= Date.parse(manifest.at) - 60_000))
      problems.push(`${name} was never signed`)
    const made = commitment(event)
    const published = bundles[Math.floor(size / 256)]?.slice((size % 256) * 64, (size % 256) * 64 + 64)
    if (published && published !== made.toString('hex')) problems.push(`${name} is not what was notarised`)
    if (event.type === 'PeriodClosed') closedMonth(event)
    // 6. The next key of the log, announced by the one before.
    if (event.type === 'LogKeyAnnounced') keys.push(openNote(event.data.note).split('\n')[2])
    addLeaf(leafHash(made))
    post(event)
    for (; checkpoints.at(-1)?.size === size; checkpoints.pop())
      if (openNote(checkpoints.at(-1).note) && checkpoints.at(-1).signedRoot !== root())
        problems.push(`the first ${size} events are not those of a checkpoint`)
  }
  if (checkpoints[0]) problems.push(`${signedUpTo} events were signed, ${size} are there`)
  if (manifest.events !== size) problems.push(`manifest.json tells of ${manifest.events} events, not ${size}`)
  const unsigned = size > signedUpTo ? ` (the last ${size - signedUpTo} not signed yet)` : ''
  if (unsigned) verdict = 'Everything but those is what was signed: a later checkpoint proves them.'
  console.log(`${size} events${unsigned}, ${books.size} books with entries, root ${size && root()}`)
}

await (isReceipt ? receipt(parse(readFileSync(place, 'utf8'))) : backup())
console.log(problems.length === 0 ? verdict : problems.slice(0, 20).join('\n'))
process.exitCode = problems.length === 0 ? 0 : 1
