import { randomUUID } from 'node:crypto'
import t from 'tap'
import { keepPublicEvents } from '../../infra/postgres/webhooks/public-events.ts'
import { credentialsOf } from '../../packages/contract/access/callers.ts'
import { publicId } from '../../packages/contract/identity.ts'
import { publicSources, readScopes, scopes, webhookTypes } from '../../packages/domain/index.ts'
import { routes } from '../../services/families.ts'
import { issueKey, otherMerchantsKey } from '../support/credentials.ts'
import { lawOver } from '../support/law.ts'
import { startService, type TestService } from '../support/service.ts'

interface Page {
  readonly data: readonly { readonly id: string; readonly type: string }[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

const types = Object.keys(webhookTypes)
const merchant = randomUUID()
/** Each type twice, and not side by side. */
const told = [...types, ...types].map((type, index) => {
  return { id: publicId('evt', randomUUID()), type, sequence: index + 1 }
})
/** What has no row of its own for merchants: their balance shows what became of it. */
const unread = new Set(['balance', 'wallet_application', 'wallet_topup'])
const reading = scopes.filter((scope) => scope.endsWith('.read'))

let service: TestService
let everything: string

t.before(async () => {
  service = await startService(t)
  everything = await otherMerchantsKey(service, merchant)
  const events = told.map(({ id, type, sequence }) => {
    const payload = JSON.stringify({
      id,
      type,
      created: 1,
      livemode: false,
      api_version: '1',
      sequence,
      data: {},
    })
    const place = { sequence, position: sequence, createdAt: '2026-01-02T03:04:05.678Z' }
    return { id, type, merchant, livemode: false, resource: 'any/1', payload, ...place }
  })
  await keepPublicEvents(service.service.runtime.postgres.pool, events)
})

async function walk(key: string, limit: number): Promise<readonly string[]> {
  const ids: string[] = []
  for (let cursor = '', isMore = true; isMore;) {
    const { body } = await service.get<Page>(`/api/v1/events?limit=${limit}${cursor}`, { key })
    ids.push(...body.data.map(({ id }) => id))
    cursor = `&cursor=${body.next_cursor}`
    isMore = body.has_more
  }
  return ids
}

t.test('a public event takes the scope by which its resource is read', async (t) => {
  t.strictSame([...readScopes.keys()], types)
  await lawOver(t, publicSources, ({ resource, scope }) => {
    t.ok(reading.includes(scope), `${scope} is declared by a family`)
    const rows = routes.filter((row) => {
      const names = 'params' in row ? [row.params?.['id']].flat() : []
      const isRead = /^GET .*\{id\}$/.test(row.operation) && names.includes(resource)
      return isRead && credentialsOf(row).includes('api_key')
    })
    t.equal(rows.length === 0, unread.has(resource), `${resource} can be read`)
    t.ok(
      rows.every((row) => row.scope === scope),
      `${resource} is read with ${scope}`,
    )
  })
})

t.test('whoever may read everything sees every event', async (t) => {
  t.strictSame(
    await walk(everything, 100),
    told.map(({ id }) => id),
  )
})

await lawOver(t, reading, (scope) => {
  t.test(`the feed shows ${scope} what it may see, without gaps, and nothing else`, async (t) => {
    const key = await issueKey(service, { merchantId: merchant, scopes: ['webhooks.read', scope] })
    const maySee = (type: string) => ['webhooks.read', scope].includes(readScopes.get(type)!)
    const visible = told.filter(({ type }) => maySee(type)).map(({ id }) => id)
    for (const limit of [1, 7, 100]) t.strictSame(await walk(key, limit), visible, `${limit} a page`)
    await lawOver(t, told.slice(0, types.length), async ({ id, type }) => {
      const status = maySee(type) ? 200 : 404
      for (const path of [`/api/v1/events/${id}`, `/api/v1/events/${id}/deliveries`])
        t.equal((await service.get(path, { key })).status, status, `${path} of ${type}`)
      const filtered = await service.get(`/api/v1/events?types[]=${type}`, { key })
      t.equal(filtered.status, maySee(type) ? 200 : 403, `asking for ${type}`)
    })
  })
})

t.test('a caller goes on behind an event that it may not see', async (t) => {
  const key = await issueKey(service, { merchantId: merchant, scopes: ['webhooks.read', 'customers.read'] })
  const hidden = told.findIndex(({ type }) => type === 'payout.paid')
  const { body } = await service.get<Page>(`/api/v1/events?limit=1&after=${told[hidden]!.id}`, { key })
  const next = told
    .slice(hidden)
    .find(({ type }) => ['customers.read', 'webhooks.read'].includes(readScopes.get(type)!))
  t.match(body.data, [{ id: next!.id }])
})
