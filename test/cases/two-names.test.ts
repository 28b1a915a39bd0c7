import t from 'tap'
import { derivedId, identity, publicId } from '../../packages/contract/identity.ts'
import { lateRefundIdOf } from '../../packages/domain/payment-intents/state.ts'
import { ikw, settingsOf } from '../support/cli.ts'
import { LatePayments, type Late } from '../support/ledger/late-payments.ts'
import { orange } from '../support/payments/payments.ts'
import { failed, returned, ScriptedRail, succeeded } from '../support/payments/scripted-rail.ts'
import { startService, type TestService } from '../support/service.ts'

const provider = new ScriptedRail()
let service: TestService
let latePayments: LatePayments

t.before(async () => {
  service = await startService(t, {}, { rails: [{ environments: ['sandbox'], rail: provider }] })
  latePayments = new LatePayments(service, provider)
})

const large = 500_000

function sign(by: string, { id }: Pick<Late, 'id'>): ReturnType<typeof ikw> {
  const named = ['--by', by, '--reason', 'The provider takes it now']
  return ikw(settingsOf(service), 'payments', 'return-late', publicId('pi', id), ...named)
}

t.test('each return of much late money takes two names of its own', async (t) => {
  const late = await latePayments.pay({ state: 'pending' }, large)
  const backAndForth = async () => {
    await provider.say(late.first, succeeded)
    await provider.say(late.first, returned)
    await latePayments.caughtUp()
  }
  await backAndForth()
  t.match(await sign('awa', late), { code: 0, stdout: /second name/ })
  t.match(await sign('awa', late), { code: 2, stderr: /another name/ })
  t.notOk(provider.requests.some(({ reference }) => reference === late.second))
  t.match(await sign('ibra', late), { code: 0, stdout: /done/ })
  await provider.submitted(({ reference }) => reference === late.second)
  await provider.say(late.second, failed)
  await latePayments.caughtUp()
  t.match(await sign('ibra', late), { code: 0, stdout: /second name/ }, 'another time')
})

t.test('what was proposed for one return is not approved for the next', async (t) => {
  const late = await latePayments.pay({ state: 'pending' }, large)
  await provider.say(late.first, succeeded)
  await provider.say(late.first, returned)
  await latePayments.caughtUp()
  t.match(await sign('awa', late), { code: 0, stdout: /second name/ })
  // It went back without anybody, and came back.
  await provider.say(late.first, succeeded)
  await provider.say(late.first, returned)
  await latePayments.caughtUp()
  t.match(await sign('ibra', late), { code: 0, stdout: /second name/ })
})

t.test('two late payments that are much together take two names', async (t) => {
  provider.answer = () => ({ state: 'never_received' })
  const sum = large / 2
  const { body } = await service.post('/api/v1/payment-intents', {
    amount: sum,
    currency: 'XOF',
    transaction_country: 'SN',
  })
  const path = `/api/v1/payment-intents/${String(body['id'])}`
  t.equal((await service.post(`${path}/confirm`, orange())).status, 502)
  provider.answer = () => ({ state: 'pending' })
  const confirmed = await service.post(`${path}/confirm`, orange())
  const second = identity(String(confirmed.body['operation_id']), 'op')!
  const id = identity(String(body['id']), 'pi')!
  const first = derivedId(id, 'confirmation 1')
  await provider.say(second, failed)
  for (const operation of [first, second]) {
    await provider.say(operation, succeeded)
    const reference = lateRefundIdOf(operation)
    await provider.say(reference, succeeded)
    await provider.say(reference, returned)
  }
  await latePayments.caughtUp()
  t.match(await sign('awa', { id }), { code: 0, stdout: /second name/ })
})
