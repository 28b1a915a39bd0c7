import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import t from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { readModels } from '../../projections/index.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { brokenMoneyLaws } from '../support/commerce/billing-laws.ts'
import { createCustomer, createPlan, passDays, subscribe } from '../support/commerce/billing.ts'
import { brokenLaws } from '../support/load/checker.ts'
import { answerPayment } from '../support/commerce/checkout.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { seeded } from '../support/random.ts'
import { replayDifferences } from '../support/verifying/replay.ts'
import { ServiceProcess } from '../support/processes/service-process.ts'
import type { MerchantClient } from '../support/service.ts'

const subscriptions = 8
const price = 5_000

interface Invoice {
  readonly id: string
  readonly number: string
  readonly status: string
  readonly amount_paid: number
  readonly hosted_invoice_url: string
  readonly period_start: number
  readonly period_end: number
}

const invoicesOf = async (client: MerchantClient, id: string) => {
  const { body } = await client.get<{ data: Invoice[] }>(
    `/api/v1/billing/invoices?subscriptionId=${id}&limit=100`,
  )
  return body.data.toReversed()
}

/** On its page, by telephone. */
async function pay(client: MerchantClient, { id, hosted_invoice_url }: Invoice): Promise<void> {
  const { pathname } = new URL(hosted_invoice_url)
  const form = { PaymentMethod: 'mobile_money', Operator: 'orange_money', PhoneNumber: '77 000 00 42' }
  const headers = { accept: 'text/html' }
  const page = `${client.url}${pathname}/pay`
  const pressed = await fetch(page, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers,
    redirect: 'manual',
  })
  if (pressed.status !== 303) throw new Error(`${pathname} answers ${pressed.status}`)
  const { body } = await client.get(`/api/v1/billing/invoices/${id}`)
  const intent = String(body['payment_intent'])
  const { status } = (await client.get(`/api/v1/payment-intents/${intent}`)).body
  if (status === 'processing') await answerPayment(client, intent)
}

/** What is open of each subscription is paid, until the current period of each is. */
async function payAll(client: MerchantClient, ids: readonly string[]): Promise<void> {
  const { body: clock } = await client.get('/api/test/clock')
  const now = Date.parse(String(clock['now'])) / 1_000
  const all = async () => {
    const found = await Promise.all(ids.map((id) => invoicesOf(client, id)))
    for (const one of found.flat()) if (one.status === 'open') await pay(client, one)
    return found
  }
  await eventually(all, (found) =>
    found.every((own) => own.at(-1)!.period_end > now && own.every(({ status }) => status === 'paid')),
  )
}

const renewed = async (pool: pg.Pool) => {
  const text = `select count(*)::integer as count from events where type = 'SubscriptionRenewed'`
  return (await pool.query<{ count: number }>(text)).rows[0]!.count
}

/** When the processes of the service are killed. */
const kills: readonly ((given: Killing) => Promise<unknown>)[] = [
  // Somewhere in the renewals of two months.
  ({ random }) => pause(random() * 400),
  // Renewed and perhaps not invoiced.
  ({ pool, before }) =>
    eventually(
      () => renewed(pool),
      (count) => count > before,
    ),
  // While it is paid.
  async ({ client, ids, random }) => {
    payAll(client, ids).catch(() => undefined)
    await pause(200 + random() * 600)
  },
]

interface Killing {
  readonly client: MerchantClient
  readonly ids: readonly string[]
  readonly pool: pg.Pool
  /** So many renewals there were before. */
  readonly before: number
  readonly random: () => number
}

t.test(
  'in a paid year of renewals with crashes, each period has one invoice, and is paid once',
  async (t) => {
    const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
    t.comment(`SEED=${seed}`)
    const random = seeded(seed)
    const { url: POSTGRES_URL, pool } = await testDatabase(t)
    const DATA_DIR = temporaryDirectory(t)
    const environment = { DATA_DIR, POSTGRES_URL, LOG_LEVEL: 'error' }
    let service = new ServiceProcess(environment)
    t.teardown(() => service.end('SIGKILL'))
    let client = await service.ready(DATA_DIR)
    const [billingPlanId, customerId] = [
      await createPlan(client, { recurringAmount: price }),
      await createCustomer(client),
    ]
    const ids: string[] = []
    while (ids.length < subscriptions) ids.push(await subscribe(client, { billingPlanId, customerId }))
    await payAll(client, ids)

    for (let month = 1; month <= 12; month++) {
      const before = await renewed(pool)
      await passDays(client, 31)
      if (month % 2 === 0) {
        await kills[(month / 2) % kills.length]!({ client, ids, pool, before, random })
        await service.end('SIGKILL')
        service = new ServiceProcess(environment)
        client = await service.ready(DATA_DIR)
      }
      await payAll(client, ids)
    }

    await lawOver(t, ids, async (id) => {
      const invoices = await invoicesOf(client, id)
      const gaps = invoices.filter(
        ({ period_start }, index) => index > 0 && period_start !== invoices[index - 1]!.period_end,
      )
      t.strictSame(gaps, [], 'each period follows the one before, and has one invoice')
      t.ok(invoices.length >= 12)
      t.ok(
        invoices.every(({ amount_paid }) => amount_paid === price),
        'each is paid once',
      )
    })
    const all = (await Promise.all(ids.map((id) => invoicesOf(client, id)))).flat()
    const numbers = all.map(({ number }) => Number(number.slice('INV-'.length)))
    t.strictSame(
      numbers.toSorted((one, other) => one - other),
      Array.from({ length: all.length }, (_, index) => index + 1),
    )
    await service.end('SIGTERM')
    const runtime = await openRuntime(readConfiguration({ PORT: '0', RATE_LIMIT: 'off', ...environment }))
    t.teardown(() => runtime.close())
    t.strictSame(await brokenLaws(runtime.postgres.pool), {}, 'the books balance')
    t.strictSame(await brokenMoneyLaws(runtime.postgres.pool), {}, 'what was paid is in the books, once')
    t.strictSame(await replayDifferences(runtime, readModels), {}, 'the same year replayed is the same')
  },
)
