import t from 'tap'
import { viewOperation, type OperationRow } from '../../packages/domain/payment-intents/operation.ts'

const ended: OperationRow = {
  id: '0190a1b2-0000-7000-8000-00000000000a',
  merchant: '0190a1b2-0000-7000-8000-00000000000b',
  livemode: false,
  type: 'payment',
  status: 'succeeded',
  resource_object: 'payment_intent',
  resource: '0190a1b2-0000-7000-8000-00000000000c',
  message: null,
  provider_url: null,
  return_url: null,
  updated_at: '2026-01-01T12:00:00.000Z',
}

t.test('a return URL that was stored and leads nowhere shows the status without it', async (t) => {
  for (const return_url of ['https://a:99999/', 'https://', 'https://[::1', 'https://exa mple.com'])
    t.equal(viewOperation({ ...ended, return_url }).redirect_url, null, return_url)
  const { redirect_url } = viewOperation({ ...ended, return_url: 'https://shop.example/back?cart=1' })
  t.match(redirect_url, /^https:\/\/shop\.example\/back\?cart=1&status=succeeded&payment_intent=pi_/)
})
