import t from 'tap'
import { serviceProcess } from '../support/processes/service-process.ts'
import { startService, type Answer, type MerchantClient } from '../support/service.ts'

const confirmations = 200

/** One provider call at most, whoever asks how often: over two processes on one store. */
t.test('of 200 concurrent confirmations over two processes one reaches the provider', async (t) => {
  const first = await startService(t)
  const {
    configuration,
    postgres: { pool },
  } = first.service.runtime
  const second = await serviceProcess(t, configuration.dataDirectory, {
    POSTGRES_URL: configuration.postgresUrl!,
  })
  const order = { amount: 5_000, currency: 'XOF', transaction_country: 'SN' }
  // The provider of the first waits for its payer, that of the second never answers, that of the third is
  // down.
  for (const number of ['0000', '0004', '0006']) {
    const {
      body: { id },
    } = await first.post('/api/v1/payment-intents', order)
    const mobile_money = { country: 'SN', operator: 'orange_money', msisdn: `+22177000${number}` }
    const body = { payment_method: { type: 'mobile_money', mobile_money } }
    const confirm = ({ post }: MerchantClient) => post(`/api/v1/payment-intents/${String(id)}/confirm`, body)
    const answers = await Promise.all(
      Array.from({ length: confirmations }, (_, index) => confirm(index % 2 ? first : second.client)),
    )

    const { rows } = await pool.query<{ reference: string; calls: number }>(
      `select reference, calls from sandbox_operations where reference = any(
        select data->>'operationId' from events where stream = $1 and type = 'PaymentIntentConfirmationStarted')`,
      [`payment_intent-${uuidOf(String(id))}`],
    )
    const others = answers.filter((answer) => !isLost(answer))
    t.comment(`${others.length} of ${confirmations} were not refused as lost races`)
    if (number !== '0006') {
      t.match(rows, [{ calls: 1 }], 'one provider call')
      t.equal(rows.length, 1)
      const operations = new Set(others.map(({ body }) => body['operation_id']))
      t.equal(operations.size, 1, 'who is not refused sees the same operation')
      t.ok(others.every((answer) => answer.status === 200 && answer.body['status'] === 'processing'))
    } else {
      t.strictSame(rows, [], 'a provider that is down has taken nothing')
      t.ok(others.every((answer) => answer.status === 502 && answer.body['code'] === 'IKW-TRANSFER-006'))
    }
  }
})

/** Spec, Errors. */
function isLost({ status, body }: Answer): boolean {
  return status === 409 && body['code'] === 'IKW-RES-003'
}

function uuidOf(publicId: string): string {
  return publicId.replace(/^pi_(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
