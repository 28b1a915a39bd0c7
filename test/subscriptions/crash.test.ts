import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { readModels } from '../../projections/index.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { createCustomer, createPlan, passDays, subscribe } from '../support/billing.ts'
import { brokenLaws } from '../support/checker.ts'
import { eventually } from '../support/eventually.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { seeded } from '../support/random.ts'
import { replayDifferences } from '../support/replay.ts'
import { ServiceProcess } from '../support/service-process.ts'
import type { MerchantClient } from '../support/service.ts'

const subscriptions = 8
const kills = 6

interface Invoice {
  readonly number: string
  readonly status: string
  readonly period_start: number
  readonly period_end: number
}

const invoicesOf = async (client: MerchantClient, id: string) => {
  const { body } = await client.get<{ data: Invoice[] }>(
    `/api/v1/billing/invoices?subscriptionId=${id}&limit=100`,
  )
  return body.data.toReversed()
}

t.test(
  'in a year of renewals with crashes, each period has one invoice, and numbers have no gaps',
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
    const [billingPlanId, customerId] = [
      await createPlan(client, { recurringAmount: 0 }),
      await createCustomer(client),
    ]
    const ids: string[] = []
    while (ids.length < subscriptions) ids.push(await subscribe(client, { billingPlanId, customerId }))

    for (let month = 1; month <= 12; month++) {
      await passDays(client, 31)
      if (month % 2 === 1 || month / 2 > kills) continue
      // Somewhere in the renewals of two months.
      await pause(random() * 400)
      await service.end('SIGKILL')
      service = new ServiceProcess(environment)
      client = await service.ready(DATA_DIR)
    }

    const { body: clock } = await client.get('/api/test/clock')
    const now = Date.parse(String(clock['now'])) / 1_000
    await lawOver(t, ids, async (id) => {
      const invoices = await eventually(
        () => invoicesOf(client, id),
        (found) => (found.at(-1)?.period_end ?? 0) > now && found.every(({ status }) => status === 'paid'),
      )
      const gaps = invoices.filter(
        ({ period_start }, index) => index > 0 && period_start !== invoices[index - 1]!.period_end,
      )
      t.strictSame(gaps, [], 'each period follows the one before, and has one invoice')
      t.ok(invoices.length >= 12)
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
    t.strictSame(await replayDifferences(runtime, readModels), {}, 'the same year replayed is the same')
  },
)
