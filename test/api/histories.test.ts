import t from 'tap'
import { partsOf } from '../../packages/contract/openapi/names.ts'
import { routes } from '../../services/families.ts'
import { otherMerchantsKey } from '../support/credentials.ts'
import { lawOver } from '../support/law.ts'
import { newUser } from '../support/identities/sign-in.ts'
import { startService, type CallOptions, type TestService } from '../support/service.ts'

let service: TestService

t.before(async () => {
  service = await startService(t)
})

interface Item {
  readonly type: string
  readonly actor: string
  readonly changed: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>
}

interface History {
  readonly data: readonly Item[]
}

const historyOf = async (path: string, options?: CallOptions) =>
  (await service.get<History>(`${path}/history`, options)).body.data

const settings = '/api/v1/merchant/settings/payouts'
const branding = '/api/v1/merchant/settings/branding'
const clock = '/api/test/clock'

t.test('what each caller has by itself has a history from the first day on', async (t) => {
  const { token, id } = await newUser(service)
  const own = routes.filter(({ kind, subject }) => kind === 'history' && subject)
  await lawOver(t, own, async (route) => {
    const answer = await service.get<History>(partsOf(route).path, { key: token })
    t.equal(answer.status, 200, route.operation)
    // Who has just come is the only thing that has happened.
    const told = answer.body.data.filter(({ changed }) => Object.keys(changed).length > 0)
    const joined = { type: 'MerchantMemberAdded', changed: { [id]: { from: null, to: 'owner' } } }
    t.match(told, route.operation.includes('/team/') ? [joined] : [], route.operation)
  })
})

t.test('every change of settings is told to whom they belong, and to nobody else', async (t) => {
  await service.call('PATCH', settings, { frequency: 'weekly', minimum_balance: 500 })
  await service.call('PATCH', settings, { frequency: 'weekly' })
  await service.call('PATCH', branding, { accent_color: '#7a1fa2' })
  await service.post(clock, { advance_seconds: 60 })
  t.match(await historyOf(settings), [
    {
      type: 'PayoutSettingsRevised',
      actor: /^key:/,
      changed: { frequency: { from: 'manual', to: 'weekly' }, minimum_balance: { from: 0, to: 500 } },
    },
  ])
  t.match(await historyOf(branding), [{ changed: { accent_color: { from: null, to: '#7a1fa2' } } }])
  t.match(await historyOf(clock), [{ changed: { ahead_seconds: { from: 0, to: 60 } } }])
  const strangers = { 'another merchant': await otherMerchantsKey(service), live: service.liveKey }
  const pairs = Object.entries(strangers).flatMap((stranger) =>
    [settings, branding].map((path) => ({ path, stranger })),
  )
  await lawOver(t, pairs, async ({ path, stranger: [who, key] }) =>
    t.strictSame(await historyOf(path, { key }), [], `${path} as ${who}`),
  )
})
