import t from 'tap'
import { webhookRoster, webhookRosterId } from '../../packages/domain/webhook-endpoints/webhook-roster.ts'
import { readState } from '../../packages/kernel/history.ts'
import { identity } from '../../packages/contract/identity.ts'
import { issueKey } from '../support/credentials.ts'
import { lawOver } from '../support/law.ts'
import { startService } from '../support/service.ts'

const endpoints = '/api/v1/webhook-endpoints'

t.test('a key has only those events sent somewhere that it may read', async (t) => {
  const service = await startService(t)
  const key = await issueKey(service, { scopes: ['webhooks.read', 'webhooks.write', 'payouts.read'] })
  const url = 'https://hooks.example.com/sight'
  const register = (body: object) => service.post(endpoints, { url, ...body }, { key })
  await lawOver(
    t,
    [{}, { enabled_events: ['*'] }, { enabled_events: ['payout.*', 'refund.*'] }],
    async (body) => {
      const { status, body: problem } = await register(body)
      t.match([status, problem['code']], [403, 'IKW-AUTHZ-001'], JSON.stringify(body))
      t.match(problem['detail'], /lacks the scope [a-z]+\.read for /)
    },
  )
  const own = await register({ enabled_events: ['payout.*'] })
  t.equal(own.status, 201)
  const { body: wide } = await service.post(endpoints, { url, enabled_events: ['*'] })
  const changes: readonly (readonly [string, object, number])[] = [
    [String(own.body['id']), { enabled_events: ['payout.paid', 'customer.*'] }, 403],
    [String(own.body['id']), { url: `${url}/moved`, enabled: true }, 200],
    [String(wide['id']), { url: `${url}/moved` }, 403],
    [String(wide['id']), { enabled: false }, 200],
    [String(wide['id']), { enabled: true }, 403],
    [String(wide['id']), { enabled_events: ['payout.*'] }, 200],
  ]
  await lawOver(t, changes, async ([id, change, status]) => {
    t.equal(
      (await service.post(`${endpoints}/${id}`, change, { key })).status,
      status,
      JSON.stringify(change),
    )
  })
})

t.test('whoever may not turn an endpoint on takes no slot for it', async (t) => {
  const { url, service, ...client } = await startService(t)
  const { executor, store } = service.runtime.dependencies
  const key = await issueKey({ url, service, ...client }, { scopes: ['webhooks.write', 'payouts.read'] })
  const registration = { url: 'https://hooks.example.com/slot', enabled_events: ['*'] }
  const path = `${endpoints}/${String((await client.post(endpoints, registration)).body['id'])}`
  await client.post(path, { enabled: false })
  const owner = { merchant: service.credentials.merchant_id, livemode: false }
  const roster = webhookRosterId(owner)
  const slots = async () => {
    const state = await readState(store, webhookRoster, roster)
    return state.status === 'open' ? state.slots.map(({ endpoint }) => endpoint) : []
  }
  const freeing = { type: 'FreeSlots', data: { endpoints: await slots() } } as const
  await executor.send(webhookRoster, roster, freeing, { ...owner, actor: 'test', correlation: 'test' })
  t.equal((await client.post(path, { enabled: true }, { key })).status, 403)
  t.strictSame(await slots(), [])
  t.equal((await client.post(path, { enabled: true, enabled_events: ['payout.*'] }, { key })).status, 200)
  t.strictSame(await slots(), [identity(path.slice(endpoints.length + 1), 'we')])
})
