import t, { type Test } from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { merchant as merchantDecider } from '../../packages/domain/merchants/merchant.ts'
import { payoutSettings, payoutSettingsId } from '../../packages/domain/payouts/settings.ts'
import { derivedId } from '../../packages/contract/identity.ts'
import { streamName } from '../../packages/kernel/decider.ts'
import { startApi } from '../../services/api/main.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { firstMerchant } from '../../services/composition/first-merchant.ts'
import { runProcesses } from '../../services/processes/runner/service.ts'
import { runProjector } from '../../services/projector/service.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { clientOf } from '../support/service.ts'

const settings = '/api/v1/merchant/settings/payouts'
const wave = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' }

/** A service whose clock the test sets, and whose timers run when the test says so. */
async function startAt(t: Test, time: string) {
  let now = Date.parse(time)
  const { url } = await testDatabase(t)
  const dataDirectory = temporaryDirectory(t)
  const environment = { PORT: '0', DATA_DIR: dataDirectory, POSTGRES_URL: url, RATE_LIMIT: 'off' }
  const configuration = readConfiguration({ ...environment, LOG_LEVEL: 'silent' })
  const runtime = await openRuntime(configuration, { clock: () => new Date(now) })
  const { dependencies } = runtime
  const credentials = await firstMerchant(runtime, dataDirectory)
  const api = await startApi({ runtime })
  const running = [runProjector(runtime)]
  t.teardown(async () => {
    await api.close()
    await Promise.all(running.map((each) => each.close()))
    await runtime.close()
  })
  const client = clientOf({ port: api.port, credentials })
  const merchant = credentials.merchant_id
  const id = payoutSettingsId({ merchant, livemode: false })
  const stream = streamName(payoutSettings.category, id)
  const runsMade = async () => {
    const events = await dependencies.store.readStream(stream, 0)
    return events.flatMap(({ type, data }) => (type === 'ScheduledPayoutRun' ? [data] : [])) as Run[]
  }
  return {
    client,
    dependencies,
    merchant,
    payoutOf: (day: string) => derivedId(id, day),
    runsMade,
    setTime: (text: string) => void (now = Date.parse(text)),
    runTimers: () => void running.push(runProcesses(runtime)),
  }
}

interface Run {
  readonly dueAt: string
  readonly payout: string | null
  readonly skipped: string | null
}

const atSix = (day: string) => `${day}T06:00:00.000Z`

t.test('runs that were missed are made up, and settings that change meanwhile swallow none', async (t) => {
  const { client, payoutOf, runsMade, setTime, runTimers } = await startAt(t, '2026-01-05T12:00:00Z')
  const { body: saved } = await client.post(`${settings}/destinations`, { ...wave, is_default: true })
  await client.call('PATCH', settings, { frequency: 'daily' })

  setTime('2026-01-08T09:00:00Z')
  const minimum = { keep_minimum_balance: true, minimum_balance: 989_900 }
  t.equal((await client.call('PATCH', settings, minimum)).status, 200)
  t.equal((await client.call('PATCH', settings, { frequency: 'monthly' })).status, 200)
  runTimers()

  const runs = await eventually(runsMade, (made) => made.length >= 3)
  t.strictSame(
    runs.map(({ dueAt }) => dueAt),
    ['2026-01-06', '2026-01-07', '2026-01-08'].map(atSix),
  )
  t.match(runs[0], { payout: payoutOf('2026-01-06'), skipped: null })
  t.match(runs.slice(1), [{ payout: null }, { payout: null }], 'the rest is kept')
  const { body: paid } = await client.get(`/api/v1/payouts/${payoutOf('2026-01-06')}`)
  t.match(paid, { amount: 9_999, fee: 100, currency: 'XOF', payout_method_id: saved['id'] })

  setTime('2026-02-01T06:00:00Z')
  const next = await eventually(runsMade, (made) => made.length === 4)
  t.equal(next[3]?.dueAt, atSix('2026-02-01'), 'then the new frequency goes on')
})

t.test('a minimum balance in another currency keeps nothing back', async (t) => {
  const { client, payoutOf, setTime, runTimers } = await startAt(t, '2026-01-05T12:00:00Z')
  await client.post(`${settings}/destinations`, { ...wave, is_default: true })
  const minimum = { frequency: 'daily', keep_minimum_balance: true, minimum_balance: 900_000 }
  const { body: own } = await client.call('PATCH', settings, minimum)
  t.equal(own['minimum_balance_currency'], 'XOF', "the merchant's own when none is named")
  const { body } = await client.call('PATCH', settings, { minimum_balance_currency: 'eur' })
  t.equal(body['minimum_balance_currency'], 'EUR')
  t.equal((await client.call('PATCH', settings, { minimum_balance_currency: 'ABC' })).status, 400)

  setTime('2026-01-06T06:00:00Z')
  runTimers()
  const path = `/api/v1/payouts/${payoutOf('2026-01-06')}`
  const { body: paid } = await eventually(
    () => client.get(path),
    ({ status }) => status === 200,
  )
  t.equal(Number(paid['amount']) + Number(paid['fee']), 1_000_000)
})

t.test('a suspended merchant is not paid by schedule, until it is activated', async (t) => {
  const { client, dependencies, merchant, payoutOf, runsMade, setTime, runTimers } = await startAt(
    t,
    '2026-01-05T12:00:00Z',
  )
  await client.post(`${settings}/destinations`, { ...wave, is_default: true })
  await client.call('PATCH', settings, { frequency: 'daily' })
  const become = (type: 'SuspendMerchant' | 'ActivateMerchant') => {
    const envelope = { merchant, livemode: false, actor: 'test', correlation: 'test' }
    return dependencies.executor.send(
      merchantDecider,
      merchant,
      { type, data: { reason: 'asked' } },
      envelope,
    )
  }
  await become('SuspendMerchant')
  setTime('2026-01-06T06:00:00Z')
  runTimers()
  const [skipped] = await eventually(runsMade, ({ length }) => length === 1)
  t.match(skipped, { payout: null, skipped: 'merchant_must_not_be_suspended' })
  t.match((await client.get('/api/v1/balance')).body, { available: [{ amount: 1_000_000 }] })

  await become('ActivateMerchant')
  setTime('2026-01-07T06:00:00Z')
  const [, paid] = await eventually(runsMade, ({ length }) => length === 2)
  t.match(paid, { payout: payoutOf('2026-01-07'), skipped: null })
})
