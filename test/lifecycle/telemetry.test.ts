import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { OtlpReceiver, type ReceivedSpan } from '../support/network/otlp-receiver.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { serviceProcess } from '../support/processes/service-process.ts'
import { startService, type MerchantClient } from '../support/service.ts'

const msisdn = '+221770000001'
const traceId = randomBytes(16).toString('hex')
const callersSpan = randomBytes(8).toString('hex')

interface Heard {
  readonly type: string
  readonly traceparent: string
}

/** A merchant's endpoint that notes which trace a webhook belongs to. */
async function sink(t: Test): Promise<{ readonly url: string; readonly heard: readonly Heard[] }> {
  const heard: Heard[] = []
  const server = createServer(async (request, response) => {
    const body = (await request.toArray()).join('')
    const { type } = JSON.parse(body) as { type: string }
    heard.push({ type, traceparent: String(request.headers['traceparent']) })
    response.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => void server.close().closeAllConnections())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, heard }
}

async function payOut(client: MerchantClient, headers: Readonly<Record<string, string>> = {}) {
  const destination = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn }
  const answer = await client.post(
    '/api/v1/payouts',
    { amount: 5_000, currency: 'XOF', destination },
    { headers },
  )
  if (answer.status !== 201) throw new Error(`the payout was refused: ${JSON.stringify(answer.body)}`)
}

/** Names from a span to the one that began its trace; `caller` is the one that this test has made up. */
function wayOf(spans: readonly ReceivedSpan[], last: ReceivedSpan): readonly string[] {
  if (last.parentSpanId === '') return [last.name]
  if (last.parentSpanId === callersSpan) return [last.name, 'caller']
  const parent = spans.find(({ spanId }) => spanId === last.parentSpanId)
  return [last.name, ...(parent ? wayOf(spans, parent) : ['unknown'])]
}

/** The ways of all spans of this name, to the one that began the trace. */
function waysTo(spans: readonly ReceivedSpan[], name: string): readonly string[] {
  return spans.filter((span) => span.name === name).map((span) => wayOf(spans, span).join(' < '))
}

const request = 'payout RequestPayout < POST /api/v1/payouts < caller'
const sending = `payout SendPayout < policy payout_sending < ${request}`
const settling = `payout SettlePayout < ${request}`

t.test('a payout is one trace, from the request to the webhook', async (t) => {
  const receiver = new OtlpReceiver()
  const { url, heard } = await sink(t)
  const { service, client } = await serviceProcess(t, temporaryDirectory(t), {
    POSTGRES_URL: (await testDatabase(t)).url,
    OTEL_EXPORTER_OTLP_ENDPOINT: await receiver.listen(t),
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  })
  const types = ['payout.paid', 'payout.in_transit']
  const endpoint = await client.post('/api/v1/webhook-endpoints', { url, enabled_events: types })
  t.equal(endpoint.status, 201)
  await payOut(client, { traceparent: `00-${traceId}-${callersSpan}-01` })
  await eventually(
    async () => heard,
    (all) => types.every((wanted) => all.some(({ type }) => type === wanted)),
  )
  t.equal((await service.end('SIGTERM')).code, 0, 'what has not been sent is sent at the end')

  const spans = receiver.spans.filter((span) => span.traceId === traceId)
  t.strictSame(waysTo(spans, 'deliver').toSorted(), [
    `deliver < publish payout.in_transit < ${sending}`,
    `deliver < publish payout.paid < ${settling}`,
  ])
  t.strictSame(waysTo(spans, 'rail submit'), [`rail submit < reaction PayoutSent < ${sending}`])
  t.strictSame(waysTo(spans, 'ledger PlaceHold'), ['ledger PlaceHold < POST /api/v1/payouts < caller'])
  t.strictSame(waysTo(spans, 'ledger PostHold'), [`ledger PostHold < policy payout_money < ${settling}`])
  t.ok(waysTo(spans, 'append').includes(`append < ${request}`))
  t.strictSame(
    spans.filter((span) => wayOf(spans, span).includes('unknown')),
    [],
    'every parent is there',
  )

  await lawOver(t, heard, ({ type, traceparent }) => {
    const [, trace, parent] = traceparent.split('-')
    t.equal(trace, traceId, `the webhook ${type} carries the trace on`)
    t.equal(spans.find(({ spanId }) => spanId === parent)?.name, 'deliver')
  })
  const linked = receiver.spans.filter(({ name }) => name === 'project').flatMap(({ links }) => links)
  t.ok(
    linked.some((link) => link.traceId === traceId),
    'a batch of the projector refers to it',
  )
  const [asked] = spans.filter(({ name }) => name === 'POST /api/v1/payouts')
  t.match(asked, { service: 'ikw-all-in-one', attributes: { 'http.response.status_code': /^201$/ } })
  for (const metric of ['http_request_duration_seconds', 'http_requests_in_flight', 'log_position'])
    t.ok(receiver.metrics.includes(metric), `the metric ${metric} is sent`)
  for (const secret of [msisdn.slice(1), client.sandboxKey, String(endpoint.body['secret'])])
    t.notOk(receiver.everything.includes(secret), 'neither telephone numbers nor secrets are sent')
})

t.test('where nobody listens, a webhook refers to the trace of who asked', async (t) => {
  const { url, heard } = await sink(t)
  const client = await startService(t)
  await client.post('/api/v1/webhook-endpoints', { url, enabled_events: ['payout.created'] })
  const traceparent = `00-${traceId}-${callersSpan}-01`
  await payOut(client, { traceparent })
  await eventually(
    async () => heard.length,
    (count) => count > 0,
  )
  t.strictSame(heard, [{ type: 'payout.created', traceparent }])
})
