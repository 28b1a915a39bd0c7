import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ikw, settingsOf } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { makeHistory } from '../support/verifying/history.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { startService, type TestService } from '../support/service.ts'

const behindMs = Date.now() - Date.parse('2026-01-15T12:00:00.000Z')
const clock = () => new Date(Date.now() - behindMs)

/** Names and digests of all that was written. */
function digests(directory: string): Readonly<Record<string, string>> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const digest = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')
  return Object.fromEntries(files.map(({ parentPath, name }) => [name, digest(join(parentPath, name))]))
}

const zone = 'Africa/Douala'

async function bePaidByCard(service: TestService, currency: 'XAF'): Promise<void> {
  const asked = { amount: 5_000, currency, transaction_country: 'SN' }
  const { body } = await service.post('/api/v1/payment-intents', asked)
  const payment = `/api/v1/payment-intents/${String(body['id'])}`
  await service.post(`${payment}/confirm`, {
    payment_method: { type: 'card', card: { token: 'tok_visa' } },
  })
  await eventually(
    () => service.get(payment),
    (answer) => answer.body['status'] === 'succeeded',
  )
}

t.test('an export of what was known at a time is the one that was made then', async (t) => {
  const service = await startService(t, {}, { clock })
  const { payoutOrder } = await makeHistory(service)
  const book = `${service.service.credentials.merchant_id}.test.XOF`
  const exports: Readonly<Record<string, readonly string[]>> = {
    journal: ['export', 'journal', '--from', '2026-01-01', '--to', '2026-02-01', '--output'],
    day: ['export', 'day', book, '2026-01-15', '--directory'],
    month: ['export', 'month', '2026-01', '--sandbox', '--directory'],
  }
  const exported = async (what: string, ...more: readonly string[]) => {
    const directory = temporaryDirectory(t)
    const target = what === 'journal' ? join(directory, 'journal.csv') : directory
    const said = await ikw(settingsOf(service), ...exports[what]!, target, ...more)
    t.equal(said.code, 0, said.stderr)
    return digests(directory)
  }
  const kinds = ['journal', 'day', 'month']
  const before = new Map<string, Awaited<ReturnType<typeof exported>>>()
  for (const what of kinds) before.set(what, await exported(what))
  const known = clock()
  await eventually(
    async () => clock(),
    (now) => now > known,
  )
  t.equal((await service.post('/api/v1/payouts', payoutOrder)).status, 201)
  // A book that nobody had begun, and a month that nobody had closed, by days of another country.
  await bePaidByCard(service, 'XAF')
  const closing = ['period', 'close', '2026-01', '--sandbox', '--time-zone', zone]
  const closed = await ikw(settingsOf(service), ...closing)
  t.equal(closed.code, 0, closed.stderr)
  await lawOver(t, kinds, async (what) => {
    t.strictSame(await exported(what, '--known-at', known.toISOString()), before.get(what), what)
    t.notSame(await exported(what), before.get(what), `${what} has more by now`)
  })
})
