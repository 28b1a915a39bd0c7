import t from 'tap'
import type { HostedTopupView } from '../../services/api/actions/hosted/hosted-topup.ts'
import { topupPage } from '../../services/api/pages/topup.ts'

const view: HostedTopupView = {
  id: `wt_${'0'.repeat(32)}`,
  object: 'hosted_topup',
  livemode: false,
  created: 0,
  merchant: { name: 'Awa', logo_url: null, accent_color: null },
  status: 'pending',
  payment_status: 'paid',
  amount: 4_000,
  currency: 'XOF',
  country: 'SN',
  takes_payments: true,
  payment_methods: [],
  payment: {
    operator: 'orange_money',
    phone: '0042',
    operation_id: null,
    redirect_url: null,
    failure_code: null,
    reversal: null,
  },
  receipt: null,
  return_url: null,
}

function pageFor(change: Partial<HostedTopupView>): string {
  const path = `/portal/token/topups/${view.id}`
  const asked = { path, params: {}, query: {}, form: {}, language: () => 'en' }
  return topupPage({ ...view, ...change }, asked as unknown as Parameters<typeof topupPage>[1])
}

t.test('a paid top-up says that it is being booked, until it is in the book', async (t) => {
  const booking = pageFor({})
  t.match(booking, /Paid, being booked/)
  t.match(booking, /data-field="status"\s+data-shown="pending"/, 'the page looks for what the book says')
  t.match(booking, /<noscript><meta http-equiv="refresh"/, 'also where no script runs')
  t.notMatch(booking, /secret code/, 'there is nothing left to do on the phone')
  t.match(pageFor({ status: 'succeeded' }), /is in your wallet/)
})

t.test('what an operator has taken back is not said to be in the wallet', async (t) => {
  t.notMatch(pageFor({ status: 'failed' }), /is in your wallet|being booked/)
})
