import { webhookTypes } from '../../../packages/domain/index.ts'
import { html, sentence, type Html } from './html.ts'
import { code, layout, table } from './layout.ts'

/** Event types, and how to verify that a delivery is ours. */
export function webhooksPage(): string {
  return layout({
    path: '/docs/webhooks',
    title: 'Webhooks',
    lead: sentence(
      'When something happens, its event is posted to every endpoint that is enabled for its type. Verify ' +
        'the signature, answer with a 2xx status within 15 seconds, and do the work afterwards.',
    ),
    content: html` <h2 id="delivery">A delivery</h2>
      ${code(delivery)} ${table(['Header', 'Meaning'], headers.map(named))}
      <p>Compute it over the bytes as they arrive: a body that is parsed and written again differs.</p>
      <h2 id="node">Verify in Node</h2>
      <p>Any library of Standard Webhooks does it. Without a library:</p>
      ${code(verifyInNode)}
      <h2 id="shell">Verify by openssl</h2>
      ${code(verifyByOpenssl)}
      <h2 id="retries">Retries</h2>
      <p>${sentence(retries)}</p>
      <h2 id="order">Order</h2>
      <p>${sentence(order)}</p>
      ${code(takeInOrder)}
      <h2 id="types">Event types</h2>
      <p>${sentence(selection)}</p>
      ${table(['Type', 'Meaning'], Object.entries(webhookTypes).map(named))}`,
  })
}

function named([name, meaning]: readonly [string, string]): readonly Html[] {
  return [html`<code>${name}</code>`, sentence(meaning)]
}

const headers = [
  ['webhook-id', 'The event. The same in retries and replays, so deduplicate by it.'],
  ['webhook-timestamp', 'Unix seconds of this attempt. Refuse what is older than 300 s.'],
  [
    'webhook-signature',
    '`v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`. The key is the secret without `whsec_`, ' +
      'decoded from base64. After a rotation there are several, separated by spaces: one must match.',
  ],
  [
    'Ikw-Signature',
    'The same for tools without base64: `t=` seconds, `v1=` hex of HMAC-SHA256 over `t.body`. The key is ' +
      'the whole secret, as it is written. After a rotation `v1=` stands there several times.',
  ],
  ['webhook-replay', '`true` when you asked for the event again.'],
] as const

const retries =
  'A delivery fails on any other status, on a redirect, and after 15 seconds. It is tried again 5 minutes, ' +
  '30 minutes, 2 hours, 8 hours and 24 hours later. When the last retry fails, the endpoint is marked as ' +
  'failing and you get one e-mail; it still gets deliveries, and the first success makes it active again. ' +
  'Status 410 turns it off. `GET /api/v1/webhook-endpoints/{id}/deliveries` shows what your endpoint was sent ' +
  'and what it answered last, `POST /api/v1/webhook-replays` sends past events again, ' +
  'and `GET /api/v1/events` reads them as a feed.'

const order =
  'Events of one resource are sent one after the other, but a retry comes after those that were sent ' +
  'meanwhile: `payout.paid` may arrive before the `payout.in_transit` that your server did not take. Compare ' +
  '`sequence`, which grows with every event of your account in one environment: what is smaller than the last ' +
  'one you have applied to the same resource is older, and you can leave it out.'

const selection =
  'Enable an endpoint for single types, for all of one resource (`payout.*`), or for everything (`*`). ' +
  '`data` is the resource as it was when the event happened, with currencies in lower case.'

const delivery = `POST /webhooks HTTP/1.1
Content-Type: application/json
webhook-id: evt_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e
webhook-timestamp: 1767225600
webhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
Ikw-Signature: t=1767225600,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd

{"id":"evt_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e","type":"payment_intent.succeeded","created":1767225600,…}`

/** Shown on the page, and run by its test. */
export const verifyInNode = `import { createHmac, timingSafeEqual } from 'node:crypto'

export function isGenuine(headers, body, secret) {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const expected = createHmac('sha256', key).update(id + '.' + timestamp + '.').update(body).digest()
  return isFresh && (headers['webhook-signature'] ?? '').split(' ').some((signature) => {
    const given = Buffer.from(signature.replace('v1,', ''), 'base64')
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}`

/** Shown on the page, and run by its test. */
export const takeInOrder = `// A table with one row per resource: applied(resource primary key, sequence).
export async function apply(event, database) {
  const { id, object } = event.data
  const { rowCount } = await database.query(
    'insert into applied (resource, sequence) values ($1, $2)' +
      ' on conflict (resource) do update set sequence = excluded.sequence' +
      ' where applied.sequence < excluded.sequence',
    [object + '/' + id, event.sequence],
  )
  // A repeat of the same event, or one that arrived late: what is stored is newer.
  return rowCount === 1
}`

export const verifyByOpenssl = `# TIMESTAMP is t of Ikw-Signature, BODY a file with the body as it arrived.
# What is printed must be the v1 of that header.
{ printf '%s.' "$TIMESTAMP"; cat "$BODY"; } | openssl dgst -sha256 -hmac "$SECRET" -r | cut -d' ' -f1`
