import { execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { canonicalJson } from '../../infra/transparency/canonical-json.ts'
import { checkpointText } from '../../infra/transparency/checkpoint.ts'
import { leafHash, sha256 } from '../../infra/transparency/hashing.ts'
import { noteSigner, writeNote } from '../../infra/transparency/signed-note.ts'
import type { Receipt } from '../../packages/kernel/ports/proofs.ts'
import { ikw, jsonOf } from '../support/cli.ts'
import { issueKey, otherMerchantsKey } from '../support/credentials.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { root } from '../support/root.ts'
import { startService, type CallOptions, type TestService } from '../support/service.ts'

const execute = promisify(execFile)
const directory = temporaryDirectory(t)
const msisdn = '+221770000001'
const payout = {
  amount: 500,
  currency: 'XOF',
  destination: { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn },
}

interface Event {
  readonly type: string
  readonly data: { readonly money?: { readonly amount: number } }
}

interface Shown extends Receipt {
  readonly event: Event
}

let service: TestService
let payoutId: string
let requestedId: string

const receiptOf = (id: string, options?: CallOptions) =>
  eventually(
    () => service.get<Shown>(`/api/v1/audit/receipts/${id}`, options),
    ({ status }) => status !== 503,
  )

/** What both verifiers say, neither of which has more than the file and the key. */
async function verified(receipt: unknown, name: string) {
  const file = join(directory, `${name.replaceAll(/\W/g, '-')}.json`)
  writeFileSync(file, JSON.stringify(receipt))
  const key = await (await fetch(`${service.url}/log/key`)).text()
  const own = await ikw({}, 'audit', 'verify', '--receipt', file, '--key', key, '--json')
  const script = join(root, 'docs/audit-verifier.mjs')
  const others = await execute(process.execPath, [script, '--receipt', file, key]).then(
    () => 0,
    ({ code }: { code: number }) => code,
  )
  const { personal, findings } = jsonOf<{
    readonly personal?: object
    readonly findings: readonly { readonly problem: string }[]
  }>(own)
  return { codes: [own.code, others], personal, problem: findings[0]?.problem }
}

t.before(async () => {
  service = await startService(t)
  const { body } = await service.post('/api/v1/payouts', payout)
  payoutId = String(body['id'])
  await service.post('/api/test/payouts/callback', { payout_id: payoutId, status: 'paid' })
  await eventually(
    () => service.get(`/api/v1/payouts/${payoutId}`),
    ({ body: shown }) => shown['status'] === 'paid',
  )
  const feed = await eventually(
    () => service.get<{ data: { id: string; type: string }[] }>('/api/v1/events?types[]=payout.created'),
    ({ body: { data } }) => data.length > 0,
  )
  requestedId = feed.body.data[0]!.id
})

t.test('a receipt proves what was promised, and to whom, without the service', async (t) => {
  const { status, body } = await receiptOf(requestedId)
  t.equal(status, 200)
  t.match(body, { object: 'receipt', event: { type: 'PayoutRequested', data: { money: { amount: 500 } } } })
  t.notMatch(JSON.stringify(body.event), msisdn)
  const { codes, personal } = await verified(body, 'requested')
  t.strictSame(codes, [0, 0])
  t.match(personal, { destination: { msisdn } })
})

t.test('a resource stands for its last event, whose index reads tell', async (t) => {
  const { body } = await receiptOf(payoutId)
  t.equal(body.event.type, 'PayoutPaid')
  t.strictSame((await verified(body, 'paid')).codes, [0, 0])
  const bare = await receiptOf(payoutId.replace('po_', ''))
  t.equal(bare.body.index, body.index)
  const shown = await eventually(
    () => service.get(`/api/v1/payouts/${payoutId}`),
    ({ headers }) => headers.has('ikw-log-index'),
  )
  t.equal(shown.headers.get('ikw-log-index'), String(body.index))
})

t.test('a movement of the balance stands for its entry in the book', async (t) => {
  const { body } = await service.get<{ data: { id: string }[] }>('/api/v1/balance-transactions')
  const { status, body: receipt } = await receiptOf(body.data[0]!.id)
  t.match([status, receipt.event], [200, { stream: /^ledger-/ }])
  t.strictSame((await verified(receipt, 'movement')).codes, [0, 0])
})

t.test('a receipt of which anything was changed does not hold', async (t) => {
  const { body } = await receiptOf(requestedId)
  const other = (await receiptOf(payoutId)).body
  const forged: Readonly<Record<string, unknown>> = {
    'an amount': { ...body, event: { ...body.event, data: { ...body.event.data, money: { amount: 5 } } } },
    'the salt': { ...body, salt: other.salt },
    'the index': { ...body, index: body.index + 1 },
    'an index beyond the tree': { ...body, index: 1_000_000 },
    'an index before the tree': { ...body, index: -1 },
    'a part of an index': { ...body, index: body.index + 0.5 },
    'the proof': { ...body, proof: body.proof.toReversed() },
    'a proof that is cut': { ...body, proof: body.proof.slice(1) },
    'the size of the tree': { ...body, checkpoint: body.checkpoint.replace(/\n\d+\n/, '\n7\n') },
    'a number': {
      ...body,
      personal: { ...body.personal, content: body.personal!.content.replace(msisdn, '+221770000002') },
    },
    'the blind': { ...body, personal: { ...body.personal, blind: other.salt } },
    'another event': { ...body, event: other.event },
  }
  await lawOver(t, Object.entries(forged), async ([what, receipt]) => {
    const { codes, problem } = await verified(receipt, what)
    t.strictSame(codes, [1, 1], what)
    t.match(problem, /^the receipt does not hold: /, what)
  })
})

t.test('what was sealed before receipts could prove it is only said, as both verifiers say', async (t) => {
  const { body } = await receiptOf(requestedId)
  const { metadata } = body.event as unknown as { metadata: { sealed: object } }
  const { digest: _, ...sealed } = metadata.sealed as { digest: string }
  const event = { ...body.event, metadata: { ...metadata, sealed } }
  const signer = noteSigner('ledger.example/log', randomBytes(32))
  const salt = Buffer.from(body.salt, 'base64url')
  const leaf = leafHash(sha256(Buffer.concat([salt, Buffer.from(canonicalJson(event))])))
  const text = checkpointText({ origin: signer.name, size: 1, root: leaf })
  const checkpoint = writeNote({ text, signatures: [signer.sign(text)] })
  const file = join(directory, 'unproven.json')
  writeFileSync(file, JSON.stringify({ ...body, event, index: 0, proof: [], checkpoint }))
  const own = await ikw({}, 'audit', 'verify', '--receipt', file, '--key', signer.verifierKey)
  t.match(own, { code: 0, stdout: /What was sealed in it is only said/ })
  const script = join(root, 'docs/audit-verifier.mjs')
  const others = await execute(process.execPath, [script, '--receipt', file, signer.verifierKey])
  t.match(others.stdout, /The event is what was signed; what it shows sealed is only said\.$/m)
})

t.test('what is no receipt at all is refused in one sentence', async (t) => {
  const key = (await (await fetch(`${service.url}/log/key`)).text()).trim()
  await lawOver(t, ['', '{', '[]', 'null', '{"event":{}}', '{"event":1,"proof":[1]}'], async (text) => {
    const file = join(directory, 'nonsense.json')
    writeFileSync(file, text)
    const { code, stdout, stderr } = await ikw({}, 'audit', 'verify', '--receipt', file, '--key', key)
    t.match({ code, stdout, stderr }, { code: 1, stdout: /^the receipt does not hold: .*\n$/, stderr: '' })
  })
  t.match(await ikw({}, 'audit', 'verify', '--receipt', 'nowhere.json', '--key', key), { code: 2 })
  t.match(await ikw({}, 'audit', 'verify'), { code: 2, stderr: /What is to be checked/ })
})

t.test('nobody gets a receipt of what he may not read', async (t) => {
  const keys = {
    'without the scope': [await issueKey(service, { scopes: ['payouts.read'] }), 403],
    'without the scope of what it shows': [await issueKey(service, { scopes: ['audit.read'] }), 404],
    'of another merchant': [await otherMerchantsKey(service, randomUUID()), 404],
    'of the other environment': [service.liveKey, 404],
  } as const
  const { body: moved } = await service.get<{ data: { id: string }[] }>('/api/v1/balance-transactions')
  await lawOver(t, Object.entries(keys), async ([who, [key, status]]) => {
    for (const id of [payoutId, requestedId, payoutId.replace('po_', ''), moved.data[0]!.id])
      t.equal((await receiptOf(id, { key })).status, status, `${who}: ${id}`)
  })
  const both = await issueKey(service, { scopes: ['audit.read', 'payouts.read'] })
  t.equal((await receiptOf(payoutId, { key: both })).status, 200)
  await lawOver(
    t,
    ['po_1', 'x', randomUUID(), `evt_${payoutId.slice(3)}`, `cus_${payoutId.slice(3)}`],
    async (id) => t.equal((await receiptOf(id)).status, 404, id),
  )
})
