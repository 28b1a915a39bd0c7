import t from 'tap'
import { bookId } from '../packages/domain/ledger/accounts.ts'
import { book } from '../packages/domain/ledger/book.ts'
import { eventually } from './support/eventually.ts'
import { startService } from './support/service.ts'

interface Told {
  readonly type: string
  readonly data: { readonly available: readonly object[]; readonly reserved: readonly object[] }
}

t.test('an event tells the balance as it was when money came in, not as it is', async (t) => {
  const service = await startService(t)
  const { house } = service.service.opened
  const destination = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' }
  await service.post('/api/v1/payouts', { amount: 5_000, currency: 'XOF', destination })
  const { merchant_id: merchant } = service.service.credentials
  const subject = { type: 'topup', id: house.newId() }
  const data = { template: 'sandbox.topup', subject, amount: 700 } as const
  const envelope = { merchant, livemode: false, actor: 'test', correlation: 'a test' }
  await house.executor.send(book, bookId(merchant, false, 'XOF'), { type: 'PostEntry', data }, envelope)
  const told = await eventually(
    async () => {
      const { body } = await service.get<{ data: readonly Told[] }>('/api/v1/events')
      return body.data.filter(({ type }) => type === 'balance.available')
    },
    ({ length }) => length === 2,
  )
  t.match(told, [
    { data: { available: [{ amount: 1_000_000, currency: 'xof' }], reserved: [{ amount: 0 }] } },
    { data: { available: [{ amount: 995_650, currency: 'xof' }], reserved: [{ amount: 5_050 }] } },
  ])
})
