import t from 'tap'
import { v7 } from 'uuid'
import { keepPublicEvents } from '../../infra/postgres/webhooks/public-events.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { eventually } from '../support/eventually.ts'
import { testDatabase } from '../support/postgres.ts'
import { startService } from '../support/service.ts'

interface Told {
  readonly type: string
  readonly data: { readonly available: readonly object[]; readonly reserved: readonly object[] }
}

t.test('an event tells the balance as it was when money came in, not as it is', async (t) => {
  const service = await startService(t)
  const { dependencies } = service.service.runtime
  const destination = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' }
  await service.post('/api/v1/payouts', { amount: 5_000, currency: 'XOF', destination })
  const { merchant_id: merchant } = service.service.credentials
  const subject = { type: 'topup', id: dependencies.newId() }
  const data = { template: 'sandbox.topup', subject, amount: 700 } as const
  const envelope = { merchant, livemode: false, actor: 'test', correlation: 'a test' }
  await dependencies.executor.send(
    book,
    bookId(merchant, false, 'XOF'),
    { type: 'PostEntry', data },
    envelope,
  )
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

t.test('public events are kept to the letter, and the first of two with one id stays', async (t) => {
  const { pool } = await testDatabase(t)
  const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const event = (sequence: number, traceparent?: string) => ({
    id: `evt_${sequence}`,
    type: 'payout.paid',
    merchant: v7(),
    livemode: sequence % 2 === 0,
    resource: `payout/${v7()}`,
    sequence,
    position: 10 * sequence,
    payload: JSON.stringify({ sequence, text: '\u001f\u0000 é "quoted" \\ {a,b} NULL' }),
    createdAt: '2026-01-02T03:04:05.678Z',
    ...(traceparent && { traceparent }),
  })
  const [one, two, three, four] = [event(1), event(2, trace), event(3), event(4)] as const
  await keepPublicEvents(pool, [one])
  await keepPublicEvents(pool, [{ ...one, payload: '{}' }, two, three, four])
  await keepPublicEvents(pool, [])
  const { rows } = await pool.query(`
    select id, type, merchant, livemode, resource, sequence, position, payload, created_at as "createdAt", traceparent
    from public_events order by sequence`)
  const wanted = [one, two, three, four].map((kept) => ({ traceparent: null, ...kept }))
  t.same(rows, wanted)
})
