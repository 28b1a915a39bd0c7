import t from 'tap'
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
