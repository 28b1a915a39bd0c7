import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'
import t from 'tap'
import { startPayments, type Body, type Payments } from '../support/payments/payments.ts'

const msisdn = '+221770001999'
const destination = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn }
const request = { amount: 500, currency: 'XOF', destination }

let service: Payments
t.before(async () => {
  service = await startPayments(t)
})

/** What older versions kept of a request: whoever guesses the request can tell that it was this one. */
function guessable(params: object, body: object): string {
  return hash('sha256', canonicalize({ params, body })!)
}

function query(text: string, values: readonly string[]) {
  return service.service.runtime.postgres.pool.query<Body>(text, [...values])
}

function keyed(key: string) {
  return { headers: { 'idempotency-key': key } }
}

t.test('what is kept of a keyed request does not betray a number that somebody guesses', async (t) => {
  const { body: first } = await service.post('/api/v1/payouts', request, keyed('guess'))
  const known = [guessable({}, request), 'guess']
  const ofKey = `from events where metadata ->> 'idempotencyKey' = $2`
  const { rows } = await query(`select metadata ->> 'fingerprint' = $1 as guessed ${ofKey}`, known)
  t.ok(rows.length > 0)
  t.ok(rows.every(({ guessed }) => guessed === false))
  await query(
    `update events set metadata = jsonb_set(metadata::jsonb, '{fingerprint}', to_jsonb($1::text))::json
     where metadata ->> 'idempotencyKey' = $2`,
    known,
  )
  const repeated = await service.post('/api/v1/payouts', request, keyed('guess'))
  t.equal(repeated.body['id'], first['id'], 'one that an older version kept is still known')
  const other = await service.post('/api/v1/payouts', { ...request, amount: 501 }, keyed('guess'))
  t.equal(other.status, 409)
})

t.test('so it is with kept answers', async (t) => {
  const intent = await service.create()
  const path = `/api/v1/payment-intents/${String(intent['id'])}/cancel`
  const cancel = () => service.call('POST', path, undefined, keyed('end'))
  const first = await cancel()
  t.equal(first.status, 200)
  const id = String(intent['id'])
    .slice(3)
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  const older = hash('sha256', canonicalize({ params: { id }, body: null })!)
  const changed = await query(
    `update answers set fingerprint = $1 where key = $2 and fingerprint <> $1 returning key`,
    [older, 'end'],
  )
  t.equal(changed.rows.length, 1)
  t.strictSame((await cancel()).body, first.body)
})
