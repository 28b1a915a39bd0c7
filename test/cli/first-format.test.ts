import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ikw } from '../support/cli.ts'
import { lawOver } from '../support/law.ts'
import { MovingMerchant } from '../support/processes/movable-service.ts'
import { testDatabase } from '../support/postgres.ts'
import { root } from '../support/root.ts'

/** A backup of every kind of event, made before payloads lost owner and time. */
const kept = join(root, 'test/fixtures/first-format')
const shown = JSON.parse(readFileSync(join(kept, 'shown.json'), 'utf8')) as Record<string, object>

t.test('a history of the first format is restored, verified, replayed and goes on', async (t) => {
  const places = { POSTGRES_URL: (await testDatabase(t)).url }
  const merchant = new MovingMerchant(t)
  for (const file of ['credentials.json', 'master.key'])
    copyFileSync(join(kept, file), join(merchant.dataDirectory, file))
  const settings = merchant.settings(places)
  for (const command of [
    ['restore', kept],
    ['ledger', 'verify'],
    ['ledger', 'replay'],
  ])
    t.match(await ikw(settings, ...command), { code: 0, stderr: '' }, command.join(' '))
  await merchant.start(places)
  await lawOver(t, Object.entries(shown), async ([path, body]) => {
    t.match(await merchant.get(path), { status: 200, body: essence(body) }, path)
  })
  await merchant.pay()
  await merchant.endPayout(await merchant.requestPayout(), 'paid')
  const { store, reads } = merchant.service.runtime.dependencies
  t.ok(await reads.reached(await store.head(), 60_000))
  t.match(await ikw(settings, 'ledger', 'verify'), { code: 0 }, 'with events of both formats')
})

/** What a resource is, whatever fields it has got since. */
function essence(body: object): object {
  const lasting = ['id', 'object', 'livemode', 'created', 'amount', 'status', 'destination', 'email', 'phone']
  return Object.fromEntries(Object.entries(body).filter(([name]) => lasting.includes(name)))
}
