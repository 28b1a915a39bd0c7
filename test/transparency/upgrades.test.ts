import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { payoutEvents } from '../../packages/domain/payouts/events.ts'
import type { Receipt } from '../../packages/kernel/ports/proofs.ts'
import { startService } from '../../services/all-in-one/start.ts'
import { ikw } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { root } from '../support/root.ts'
import { clientOf, type MerchantClient } from '../support/service.ts'

const execute = promisify(execFile)
const directory = temporaryDirectory(t)
const msisdn = '+221770000001'
const payout = {
  amount: 500,
  currency: 'XOF',
  destination: { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn },
}

interface Shown extends Receipt {
  readonly event: { readonly type: string; readonly schema_version: number }
}

/** The id of the event by which a new payout was requested. */
async function requestPayout(client: MerchantClient): Promise<string> {
  const { body } = await client.post('/api/v1/payouts', payout)
  const { body: feed } = await eventually(
    () => client.get<{ data: { id: string; object_id: string }[] }>('/api/v1/events?types[]=payout.created'),
    ({ body: { data } }) => JSON.stringify(data).includes(String(body['id'])),
  )
  return feed.data.find((event) => JSON.stringify(event).includes(String(body['id'])))!.id
}

async function receiptOf(client: MerchantClient, id: string): Promise<Shown> {
  const { body } = await eventually(
    () => client.get<Shown>(`/api/v1/audit/receipts/${id}`),
    ({ status }) => status === 200,
  )
  return body
}

/** What both verifiers say who have nothing but the file and the keys. */
async function verify(receipt: Receipt, keys: string): Promise<readonly (number | null)[]> {
  const file = join(directory, 'receipt.json')
  writeFileSync(file, JSON.stringify(receipt))
  const own = await ikw({}, 'audit', 'verify', '--receipt', file, '--key', keys)
  const script = join(root, 'docs/audit-verifier.mjs')
  const others = await execute(process.execPath, [script, '--receipt', file, keys]).then(
    () => 0,
    ({ code }: { code: number }) => code,
  )
  return [own.code ?? null, others]
}

/** As a release of the service raises the version of a stored event. */
function upgrade(): void {
  const { version, upcasts } = payoutEvents.PayoutRequested
  const urgent = (older: object) => ({ ...older, urgency: 'usual' })
  Object.assign(payoutEvents.PayoutRequested, {
    version: version + 1,
    upcasts: { ...upcasts, [version]: urgent },
  })
}

t.test('a receipt holds years later: newer versions of events, another key, another process', async (t) => {
  const { url: POSTGRES_URL } = await testDatabase(t)
  const settings = {
    PORT: '0',
    DATA_DIR: temporaryDirectory(t),
    POSTGRES_URL,
    LOG_LEVEL: 'error',
    RATE_LIMIT: 'off',
  }
  const first = await startService(readConfiguration(settings))
  const client = clientOf(first)
  const old = await requestPayout(client)
  const before = await receiptOf(client, old)
  const oldKey = (await (await fetch(`${client.url}/log/key`)).text()).trim()
  await first.close()

  const { version } = payoutEvents.PayoutRequested
  upgrade()
  const yearsMs = 3 * 365 * 86_400_000
  const second = await startService(readConfiguration(settings), {
    clock: () => new Date(Date.now() + yearsMs),
  })
  t.teardown(() => second.close())
  const later = clientOf(second)
  t.match(await ikw(settings, 'audit', 'rotate-key'), { code: 0 })
  // The checkpoint over the announcement has both signatures, whatever else it covers.
  await receiptOf(later, await requestPayout(later))
  const fresh = await requestPayout(later)
  const after = await receiptOf(later, fresh)
  const keys = (await (await fetch(`${later.url}/log/key`)).text()).trim()

  t.strictSame(await verify(before, oldKey), [0, 0], 'what was kept, by the key of that time')
  t.strictSame(await verify(before, keys), [0, 0], 'and by all that there are now')
  const again = await receiptOf(later, old)
  t.strictSame([again.event, again.salt, again.index], [before.event, before.salt, before.index])
  t.equal(again.event.schema_version, version, 'as it was written')
  t.strictSame(await verify(again, keys), [0, 0], 'the same event, proved anew')
  t.match(again.personal, { content: new RegExp(msisdn.slice(1)) })
  t.equal(after.event.schema_version, version + 1)
  t.strictSame(await verify(after, keys), [0, 0], 'an event of the newer version')
  t.strictSame(await verify(after, oldKey), [1, 1], 'which the old key has not signed')

  const backup = join(directory, 'backup')
  t.match(await ikw(settings, 'backup', backup), { code: 0 })
  t.match(await ikw({}, 'audit', 'verify', backup, '--key', oldKey), { code: 0 }, 'and the whole log by it')
})
