import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { createCustomer } from '../support/commerce/billing.ts'
import { brokenMoneyLaws } from '../support/commerce/billing-laws.ts'
import { brokenLaws } from '../support/load/checker.ts'
import { lawOver } from '../support/law.ts'
import { invoiceFor } from '../support/commerce/portal.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { seeded } from '../support/random.ts'
import { ServiceProcess } from '../support/processes/service-process.ts'
import type { MerchantClient } from '../support/service.ts'
import { openPortal } from '../support/subscriber.ts'

const customers = 6
const kills = 3
const portal = '/api/v1/customer-portal'
const amounts = { topup: 1_000, byWallet: 600, onPage: 700 }

interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

t.test(
  'whatever is killed while customers top up and pay, nothing is paid twice and nothing is lost',
  async (t) => {
    const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
    t.comment(`SEED=${seed}`)
    const random = seeded(seed)
    const { url: POSTGRES_URL } = await testDatabase(t)
    const DATA_DIR = temporaryDirectory(t)
    const environment = { DATA_DIR, POSTGRES_URL, LOG_LEVEL: 'error' }
    let service = new ServiceProcess(environment)
    t.teardown(() => service.end('SIGKILL'))
    let client = await service.ready(DATA_DIR)

    /** As a customer does whose page does not answer: again, with the same key. */
    async function until(
      ask: (client: MerchantClient) => Promise<Answer>,
      isDone: (answer: Answer) => boolean,
    ) {
      for (;;) {
        const answer = await ask(client).catch(() => undefined)
        if (answer && isDone(answer)) return answer.body
        await pause(100)
      }
    }

    async function topUp(key: string): Promise<void> {
      const mobile = { country: 'CI', operator: 'orange_money', msisdn: '+2250700000042' }
      const order = { amount: amounts.topup, currency: 'XOF', ...mobile }
      const headers = { 'idempotency-key': randomUUID() }
      const asked = await until(
        (client) => client.post(`${portal}/wallet/topups`, order, { key, headers }),
        ({ status }) => status === 201,
      )
      await until(
        async (client) => {
          await approve(client, asked['payment_intent'])
          return client.get(`${portal}/wallet/topups/${String(asked['id'])}`, { key })
        },
        ({ body }) => body['status'] === 'succeeded',
      )
    }

    /** What was put in may be in the wallet a moment later: then the rest is paid once more. */
    async function payByWallet(key: string, invoice: string): Promise<void> {
      let headers = { 'idempotency-key': randomUUID() }
      const pay = async (client: MerchantClient) => {
        const path = `${portal}/invoices/${invoice}/pay`
        const answer = await client.post(path, { source: 'wallet' }, { key, headers })
        if (answer.body['paid'] === false) headers = { 'idempotency-key': randomUUID() }
        return answer
      }
      await until(pay, ({ body }) => body['paid'] === true)
    }

    async function payOnPage(key: string, invoice: string): Promise<void> {
      const begun = await until(
        (client) => client.post(`${portal}/invoices/${invoice}/pay`, {}, { key }),
        ({ status }) => status === 200,
      )
      const { pathname } = new URL(String(begun['checkout_url']))
      const form = { PaymentMethod: 'mobile_money', Operator: 'orange_money', PhoneNumber: '770000042' }
      await until(
        async (client) => {
          await client.post(`${pathname}/pay`, form, { key: '' })
          await approve(client, begun['payment_intent'])
          return client.get(pathname, { key: '' })
        },
        ({ body }) => body['payment_status'] === 'paid',
      )
    }

    const ids = await Promise.all(Array.from({ length: customers }, () => createCustomer(client)))
    for (let round = 1; round <= kills; round++) {
      const under = ids.map(async (customerId) => {
        const { token } = await openPortal(client, { customerId })
        const [first, second] = [
          await invoiceFor(client, customerId, { amountDue: amounts.byWallet }),
          await invoiceFor(client, customerId, { amountDue: amounts.onPage }),
        ]
        return { token, first, second }
      })
      const ready = await Promise.all(under)
      const paying = ready.map(async ({ token, first, second }) => {
        await Promise.all([topUp(token).then(() => payByWallet(token, first)), payOnPage(token, second)])
      })
      await pause(random() * 600)
      await service.end('SIGKILL')
      service = new ServiceProcess(environment)
      client = await service.ready(DATA_DIR)
      await Promise.all(paying)
    }

    await lawOver(t, ids, async (customerId) => {
      const { token: key } = await openPortal(client, { customerId })
      const left = kills * (amounts.topup - amounts.byWallet)
      t.match((await client.get(`${portal}/wallet`, { key })).body, { balances: [{ amount: left }] })
      const { body } = await client.get<{ data: { status: string }[] }>(`${portal}/invoices?limit=100`, {
        key,
      })
      t.strictSame([...new Set(body.data.map(({ status }) => status))], ['paid'])
      t.equal(body.data.length, 2 * kills)
    })
    await service.end('SIGTERM')
    const runtime = await openRuntime(readConfiguration({ PORT: '0', RATE_LIMIT: 'off', ...environment }))
    t.teardown(() => runtime.close())
    t.strictSame(await brokenMoneyLaws(runtime.postgres.pool), {})
    t.strictSame(await brokenLaws(runtime.postgres.pool), {}, 'operators have executed what the books say')
  },
)

/** Said again, it changes nothing. */
async function approve(client: MerchantClient, intent: unknown): Promise<void> {
  await client.post('/api/test/mobile-money/callback', { payment_intent_id: intent, status: 'succeeded' })
}
