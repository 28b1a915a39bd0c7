import { createHash } from 'node:crypto'
import t from 'tap'
import { checkpointText, parseCheckpoint } from '../../infra/transparency/checkpoint.ts'
import { leafHash } from '../../infra/transparency/hashing.ts'
import { TileProofs } from '../../infra/transparency/proofs.ts'
import {
  cosigner,
  noteSigner,
  noteVerifier,
  parseNote,
  parseSignature,
  verifiedSigners,
  writeNote,
} from '../../infra/transparency/signed-note.ts'
import { tilePath } from '../../infra/transparency/tiles.ts'
import { GrowingTree } from '../../infra/transparency/tree.ts'
import { addCheckpoint, type Seen, type WitnessLogs } from '../../infra/transparency/witness.ts'

const seedOf = (name: string) => createHash('sha256').update(name).digest()

/** The note and the key in the documentation of Go's sumdb/note. */
const known = {
  verifierKey: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
  seed: Buffer.from('AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz', 'base64').subarray(1),
  note:
    'If you think cryptography is the answer to your problem,\n' +
    "then you don't know what your problem is.\n" +
    '\n' +
    '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZS' +
    'NXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
}

t.test("a note of Go's is read, verified and written alike", async (t) => {
  const note = parseNote(known.note)
  t.strictSame([...verifiedSigners(note, [noteVerifier(known.verifierKey)])], [['PeterNeumann', true]])
  const signer = noteSigner('PeterNeumann', known.seed)
  t.equal(signer.verifierKey, known.verifierKey)
  t.equal(writeNote({ text: note.text, signatures: [signer.sign(note.text)] }), known.note)
})

t.test('a changed text, a cut signature and a wrong key are found', async (t) => {
  const verifier = noteVerifier(known.verifierKey)
  t.throws(
    () => verifiedSigners(parseNote(known.note.replace('answer', 'Answer')), [verifier]),
    /does not hold/,
  )
  t.throws(() => noteVerifier(known.verifierKey.replace('c74f20a3', 'c74f20a4')), /id of its key/)
  t.throws(() => noteVerifier('x+00000000+AAAA'), /not a verifier key/)
  const stranger = noteSigner('PeterNeumann', seedOf('stranger'))
  t.equal(verifiedSigners(parseNote(known.note), [noteVerifier(stranger.verifierKey)]).size, 0)
  for (const broken of [
    known.note.slice(0, -1),
    known.note.replace('\n\n', '\n'),
    known.note.replace('— ', '- '),
    `\u0001${known.note}`,
  ])
    t.throws(() => parseNote(broken), { name: 'MalformedNoteError' })
})

t.test('a checkpoint is three lines, spelled in one way', async (t) => {
  const checkpoint = { origin: 'ledger.example/log', size: 7, root: seedOf('root') }
  t.strictSame(parseCheckpoint(checkpointText(checkpoint)), checkpoint)
  for (const size of ['', '-1', '07', '1e3', '9007199254740993'])
    t.throws(() => parseCheckpoint(`a\n${size}\n${checkpoint.root.toString('base64')}\n`), /size/, size)
  t.throws(() => parseCheckpoint('a\n7\nAAAA\n'), /root/)
})

/** A log whose every tree is kept, and a witness that remembers in memory. */
function logOf(name: string) {
  const signer = noteSigner('ledger.example/log', seedOf('ledger'))
  const tree = new GrowingTree()
  const tiles = new Map<string, Buffer>()
  const grow = (count: number) => {
    for (let added = 0; added < count; added++) tree.add(leafHash(Buffer.from(`${name} ${tree.size}`)))
    for (const { hashes, ...tile } of tree.takeTiles()) tiles.set(tilePath(tile), hashes)
  }
  const request = async (oldSize: number) => {
    const proofs = new TileProofs(tree.size, async (tile) => tiles.get(tilePath(tile))!)
    const proof = await proofs.consistency(Math.min(oldSize, tree.size))
    const text = checkpointText({ origin: signer.name, size: tree.size, root: tree.root() })
    const lines = proof.map((hash) => `${hash.toString('base64')}\n`).join('')
    return { text, body: `old ${oldSize}\n${lines}\n${writeNote({ text, signatures: [signer.sign(text)] })}` }
  }
  return { signer, grow, request }
}

function memoryOf(verifierKey: string): WitnessLogs {
  let last: Seen | undefined
  return {
    verifiers: (origin) => (origin === 'ledger.example/log' ? [noteVerifier(verifierKey)] : undefined),
    async advance(_origin, step) {
      const { keep, result } = step(last)
      last = keep ?? last
      return result
    },
  }
}

t.test('a witness signs a log that grows and no log that tells another story', async (t) => {
  const log = logOf('true')
  const memory = memoryOf(log.signer.verifierKey)
  const witness = cosigner('witness.example/w1', seedOf('witness'), () => new Date(1_700_000_000_500))
  const ask = (body: string) => addCheckpoint(body, memory, witness)
  log.grow(700)
  t.equal((await ask((await log.request(9_999)).body)).status, 400, 'an old size beyond the checkpoint')
  const { body, text } = await log.request(0)
  const answer = await ask(body)
  t.equal(answer.status, 200)
  const signature = parseSignature(answer.body.trimEnd())
  const verified = verifiedSigners({ text, signatures: [signature] }, [noteVerifier(witness.verifierKey)])
  t.strictSame([...verified], [['witness.example/w1', 1_700_000_000]])

  const size = Number(text.split('\n')[1])
  t.same(await ask(body), { status: 409, body: `${size}\n`, contentType: 'text/x.tlog.size' })
  t.equal((await ask((await log.request(size)).body)).status, 200, 'the same tree again')
  log.grow(300)
  t.equal((await ask((await log.request(size)).body)).status, 200, 'the tree that has grown')

  const other = logOf('false')
  other.grow(size + 600)
  t.equal((await ask((await other.request(size + 300)).body)).status, 422, 'another story')
  t.equal((await ask(body.replace('ledger.example/log', 'nobody.example/log'))).status, 404)
  t.equal((await ask(body.replace(/\n\d+\n/, '\n5\n'))).status, 403, 'a text that was not signed')
  t.equal((await ask('old 01\n\n')).status, 400)
})
