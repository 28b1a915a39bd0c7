import t from 'tap'
import { startService, type TestService } from '../support/service.ts'

let service: TestService

t.before(async () => {
  service = await startService(t)
})

t.test('what clients that exist send is understood', async (t) => {
  const intent = {
    amount: 5_000,
    currency: 'XOF',
    transaction_country: 'CI',
    payment_method_types: ['mobile_money'],
  }
  const headers = { 'ikw-request-id': 'order-1042' }
  const created = await service.post('/api/v1/payment-intents', intent, { headers })
  t.equal(created.status, 201)
  t.equal(created.headers.get('ikw-request-id'), 'order-1042')

  const mobile_money = { country: 'CI', operator: 'orange_money', phone: '+2250700000042' }
  const path = `/api/v1/payment-intents/${String(created.body['id'])}/confirm`
  const confirm = (method: object) =>
    service.post(path, { payment_method: { type: 'mobile_money', mobile_money: method } })
  t.match(await confirm({ ...mobile_money, msisdn: '+2250700000042' }), {
    status: 400,
    body: { param: '/payment_method/mobile_money/phone' },
  })
  t.match(await confirm({ country: 'CI', operator: 'orange_money' }), {
    status: 400,
    body: { param: '/payment_method/mobile_money/msisdn' },
  })
  t.match(await confirm(mobile_money), { status: 200, body: { status: 'processing' } })
})
