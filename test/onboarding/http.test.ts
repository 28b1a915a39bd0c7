import t from 'tap'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { user as users } from '../../packages/domain/users/user.ts'
import { eventually } from '../support/eventually.ts'
import { proof, withTotp } from '../support/identities/second-factors.ts'
import { startService, type TestService } from '../support/service.ts'
import { as, newUser, type SignedIn } from '../support/identities/sign-in.ts'

const guide = '/api/v1/auth/onboarding'
const steps = '/api/v1/onboarding/steps'

interface Steps {
  readonly data: readonly { readonly id: string; readonly status: string; readonly position: number }[]
}

let service: TestService

t.before(async () => {
  service = await startService(t)
})

const live = (by: SignedIn) => ({ ...as(by), headers: { 'ikw-environment': 'live' } })
const balance = (by: SignedIn) => service.get('/api/v1/balance', live(by))
const progress = (by: SignedIn, body: object) => service.call('PATCH', guide, body, as(by))
const stepsOf = async (by: SignedIn) => (await service.get<Steps>(steps, as(by))).body.data

async function doneBy(by: SignedIn): Promise<readonly string[]> {
  return (await stepsOf(by)).filter(({ status }) => status === 'done').map(({ id }) => id)
}

t.test('the guide goes on where the user left it, and what is not sent stays', async (t) => {
  const awa = await newUser(service)
  const begun = { onboarding_dismissed: false, onboarding_completed: false, onboarding_step: null }
  t.match((await service.get(guide, as(awa))).body, begun)
  t.match(await progress(awa, { onboardingStep: 'webhook' }), {
    status: 200,
    body: { onboarding_step: 'webhook' },
  })
  const dismissed = await progress(awa, { onboardingDismissed: true })
  t.match(dismissed.body, { onboarding_dismissed: true, onboarding_step: 'webhook' })
  const me = await service.get('/api/v1/auth/me', as(awa))
  t.match(me.body, { onboarding: { onboarding_dismissed: true, onboarding_step: 'webhook' } })
  t.match(await progress(awa, { onboardingStep: 'Not a name' }), {
    status: 400,
    body: { param: '/onboardingStep' },
  })
})

t.test('live is refused until each step is done, and the refusal names the first that is not', async (t) => {
  const awa = await newUser(service)
  const order = (await stepsOf(awa)).map(({ id }) => id)
  t.strictSame(order, [
    'verify_email',
    'secure_account',
    'business_profile',
    'payout_destination',
    'first_payment',
    'webhook',
    'go_live',
  ])
  const missing = async (step: string) => {
    t.match(await balance(awa), {
      status: 403,
      body: { code: 'IKW-MERCHANT-003', detail: new RegExp(`the step ${step} is missing`) },
    })
    const current = (await stepsOf(awa)).filter(({ status }) => status === 'in_progress')
    t.match(current, [{ id: step }])
    await progress(awa, { onboardingCompleted: true })
    t.equal((await balance(awa)).status, 403, 'saying so does not help')
  }
  await missing('verify_email')
  await confirm(awa)
  await missing('secure_account')
  const { codes } = await withTotp(service, awa)
  await missing('payout_destination')
  await service.post('/api/v1/merchant/settings/payouts/destinations', destination, as(awa))
  await reached(awa, 'payout_destination')
  await missing('first_payment')
  await pay(awa)
  await reached(awa, 'first_payment')
  await missing('webhook')
  await service.post(
    '/api/v1/webhook-endpoints',
    { url: 'http://127.0.0.1:9/', enabled_events: ['*'] },
    as(awa),
  )
  await reached(awa, 'webhook')
  t.match(await balance(awa), { status: 403, body: { detail: /the step go_live is missing/ } })
  t.match(await progress(awa, { onboardingCompleted: true }), { status: 200 })
  t.strictSame(await doneBy(awa), order)
  t.equal((await balance(awa)).status, 200)
  const challengeId = await proof(service, awa, { purpose: 'api_key', code: codes[0]! })
  const wanted = { name: 'Live', environment: 'live', scopes: ['balance.read'], challengeId }
  t.match(await service.post('/api/v1/auth/api-keys', wanted, as(awa)), { status: 201 })
})

t.test('who is no owner opens nothing', async (t) => {
  const [awa, ibra] = [await newUser(service), await newUser(service)]
  const { executor } = service.service.runtime.dependencies
  const envelope = { merchant: awa.merchant, livemode: false, actor: 'test', correlation: 'test' }
  const add = { type: 'AddMember', data: { user: ibra.id, role: 'admin' } } as const
  await executor.send(merchant, awa.merchant, add, envelope)
  for (const one of [awa, ibra]) {
    await confirm(one)
    await withTotp(service, one)
  }
  await service.post('/api/v1/merchant/settings/payouts/destinations', destination, as(awa))
  await pay(awa)
  await service.post(
    '/api/v1/webhook-endpoints',
    { url: 'http://127.0.0.1:9/', enabled_events: ['*'] },
    as(awa),
  )
  for (const step of ['payout_destination', 'first_payment', 'webhook']) await reached(awa, step)
  const body = { merchantId: awa.merchant }
  const answer = await service.post('/api/v1/auth/switch-merchant', body, as(ibra))
  const there = { ...ibra, token: String(answer.body['access_token']) }
  t.match(await progress(there, { onboardingCompleted: true }), { status: 200 })
  t.equal((await balance(there)).status, 403)
  await progress(awa, { onboardingCompleted: true })
  t.equal((await balance(there)).status, 200, 'once an owner has opened it, it is open to all')
})

const destination = { type: 'bank', bank_code: 'CI093', account_name: 'Awa Koné', account_number: '0001234' }

async function confirm({ id }: SignedIn): Promise<void> {
  const envelope = { user: id, actor: 'test', correlation: 'test' }
  const { executor } = service.service.runtime.dependencies
  await executor.send(users, id, { type: 'ConfirmEmail', data: {} }, envelope)
}

async function pay(by: SignedIn): Promise<void> {
  const order = { amount: 5_000, currency: 'XOF', transaction_country: 'CI' }
  const { body } = await service.post('/api/v1/payment-intents', order, as(by))
  const mobile_money = { country: 'CI', operator: 'orange_money', msisdn: '+2250700000042' }
  const method = { payment_method: { type: 'mobile_money', mobile_money } }
  await service.post(`/api/v1/payment-intents/${String(body['id'])}/confirm`, method, as(by))
  const said = { payment_intent_id: body['id'], status: 'succeeded' }
  await service.post('/api/test/mobile-money/callback', said, as(by))
}

async function reached(by: SignedIn, step: string): Promise<void> {
  await eventually(
    () => doneBy(by),
    (done) => done.includes(step),
  )
}
