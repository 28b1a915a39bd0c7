import { createHash } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { checkpointText } from '../../infra/transparency/checkpoint.ts'
import { leafHash } from '../../infra/transparency/hashing.ts'
import { noteSigner, writeNote } from '../../infra/transparency/signed-note.ts'
import { entryBundle, hashesOf, tilePath } from '../../infra/transparency/tiles.ts'
import { GrowingTree } from '../../infra/transparency/tree.ts'
import { remoteLog } from '../../services/audit/remote-log.ts'
import { TreeAudit } from '../../services/audit/tree-audit.ts'
import { lawOver } from '../support/law.ts'

/** A small log as a service shows it: by path. */
const signer = noteSigner('log.example/log', Buffer.alloc(32, 1))
const commitments = [1, 2, 3].map((number) => createHash('sha256').update(String(number)).digest())
const tree = new GrowingTree()
for (const commitment of commitments) tree.add(leafHash(commitment))
const shown: Readonly<Record<string, string | Buffer>> = {
  '/log/checkpoint': checkpointOver(tree.size),
  '/log/key': `${signer.verifierKey}\n`,
  [`/log/${tilePath({ level: 0, index: 0, width: 3 })}`]: tree.takeTiles()[0]!.hashes,
  '/log/tile/entries/000.p/3': entryBundle(commitments),
}

function checkpointOver(size: number, by = signer): string {
  const text = checkpointText({ origin: signer.name, size, root: tree.root() })
  return writeNote({ text, signatures: [{ ...by.sign(text), name: signer.name }] })
}

type Answer = (path: string, response: ServerResponse) => boolean

/** Shows the log, except where `lie` has answered. */
async function startLog(t: Test, lie: Answer = () => false): Promise<string> {
  const server = createServer(({ url: path = '' }, response) => {
    if (lie(path, response)) return
    if (!(path in shown)) response.statusCode = 404
    response.end(shown[path])
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function audited(url: string) {
  const log = await remoteLog(url, [signer.verifierKey])
  const audit = new TreeAudit(log, { keys: [signer.verifierKey] })
  for await (const { commitments } of log.bundles())
    for (const commitment of hashesOf(commitments)) await audit.add(commitment)
  await audit.end()
  return audit.findings
}

const instead = (wanted: string, body: string | Buffer): Answer => {
  return (path, response) => path.startsWith(wanted) && Boolean(response.end(body))
}

const without = (path: string, response: ServerResponse): boolean => {
  if (path !== '/log/checkpoint') return false
  const more = () => {
    while (response.write(Buffer.alloc(65_536, 'x')));
    response.once('drain', more)
  }
  more()
  return true
}

const strangers = noteSigner('stranger.example/log', Buffer.alloc(32, 2))
const another: Answer = (path, response) => {
  if (path !== '/log/checkpoint') return false
  response.writeHead(302, { location: '/log/key' })
  return Boolean(response.end())
}

const lies: Readonly<Record<string, readonly [lie: Answer, says: RegExp]>> = {
  'an answer without end': [without, /checkpoint has more than \d+ bytes$/],
  'another place': [another, /checkpoint cannot be read: unexpected redirect$/],
  'more events than there ever will be, unsigned': [
    instead('/log/checkpoint', checkpointOver(Number.MAX_SAFE_INTEGER, strangers)),
    /no key of the log has signed it/,
  ],
  'no events, unsigned': [
    instead('/log/checkpoint', checkpointOver(0, strangers)),
    /no key of the log has signed it/,
  ],
  'a bundle that ends too early': [
    instead('/log/tile/entries', Buffer.of(0, 32, 1)),
    /entries\/000.p\/3 does not hold 3 commitments$/,
  ],
  'an empty bundle': [instead('/log/tile/entries', ''), /does not hold 3 commitments$/],
  'a bundle of two': [
    instead('/log/tile/entries', entryBundle([Buffer.concat(commitments.slice(0, 2)), commitments[2]!])),
    /does not hold 3 commitments$/,
  ],
  'what is no checkpoint': [instead('/log/checkpoint', Buffer.alloc(900, 255)), /control characters/],
  'a key that is none': [instead('/log/checkpoint', 'x\n\n'), /is not a signature/],
}

t.test('a log that is as it says is found right', async (t) => {
  t.strictSame(await audited(await startLog(t)), [])
})

t.test('a service that lies is told of at once, and takes neither memory nor time', async (t) => {
  await lawOver(t, Object.entries(lies), async ([what, [lie, says]]) => {
    await t.rejects(audited(await startLog(t, lie)), { message: says }, what)
  })
})

t.test('a log of no events is one that somebody has signed', async (t) => {
  const log = {
    verifierKeys: [signer.verifierKey],
    tiles: new Map(),
    size: 0,
    checkpoints: async function* () {
      yield { size: 0, note: checkpointOver(0, strangers) }
    },
    cosignatures: async function* () {},
    bundles: async function* () {},
  }
  const audit = new TreeAudit(log)
  await audit.end()
  t.match(audit.findings, [{ problem: /over 0 events does not hold: the signature|no key of the log/ }])
})

t.test('a service that limits how fast it is read is waited for', async (t) => {
  let isLimited = true
  const lie: Answer = (path, response) => {
    if (!isLimited || path !== '/log/key') return false
    isLimited = false
    response.writeHead(429, { 'retry-after': 'Mon, 23 Nov 2026 12:00:00 GMT' })
    return Boolean(response.end())
  }
  t.strictSame(await audited(await startLog(t, lie)), [])
})
