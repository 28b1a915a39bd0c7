import t from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { bookId, provider } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { balanceOf, balances } from '../../packages/domain/ledger/state.ts'
import { readState } from '../../packages/kernel/history.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { firstMerchant } from '../../services/composition/first-merchant.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { clientOf } from '../support/service.ts'
import { ServiceApart } from '../support/processes/service-apart.ts'

const skewMs = 10 * 60_000
const perRound = 25
const rounds = 2
const amount = 1_000

t.test('runners with wrong clocks that stop and wake up again pay every payout once', async (t) => {
  const { url, pool } = await testDatabase(t)
  const settings = {
    POSTGRES_URL: url,
    DATA_DIR: temporaryDirectory(t),
    LOG_LEVEL: 'silent',
    PORT: '0',
    RATE_LIMIT: 'off',
  }
  const runtime = await openRuntime(readConfiguration(settings))
  t.teardown(runtime.close)
  const credentials = await firstMerchant(runtime, settings.DATA_DIR)
  const { dependencies } = runtime
  const api = new ServiceApart(t, 'api', settings)
  new ServiceApart(t, 'projector', settings)
  const client = clientOf({ credentials, port: await api.port() })

  const count = async (text: string) =>
    (await pool.query<{ count: number }>(`select count(*)::integer as count from ${text}`)).rows[0]!.count
  const leader = async () => {
    const text = "select instance from leaders where name = 'processes'"
    return (await pool.query<{ instance: string }>(text)).rows[0]?.instance
  }
  const start = (name: string, clockSkewMs: number) =>
    new ServiceApart(t, 'processes', { ...settings, INSTANCE: name }, { clockSkewMs })
  // Whose clock is ahead leads first and last: what is due to that clock is not due to the other for long.
  const ahead = start('ahead', skewMs)
  await eventually(leader, (instance) => instance === ahead.instance)
  const runners = [ahead, start('behind', -skewMs)]
  await Promise.all(runners.map((runner) => runner.port()))
  const payOut = () =>
    Promise.all(
      Array.from({ length: perRound }, async () => {
        const destination = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000001' }
        const answer = await client.post('/api/v1/payouts', { amount, currency: 'XOF', destination })
        t.equal(answer.status, 201)
      }),
    )
  for (let round = 0; round < rounds; round++) {
    const name = await eventually(leader, (instance) => instance !== undefined)
    const sleeper = runners.find(({ instance }) => instance === name)!
    const asked = payOut()
    sleeper.signal('SIGSTOP')
    await asked
    await eventually(leader, (instance) => instance !== name)
    await payOut()
    sleeper.signal('SIGCONT')
  }
  const payouts = 2 * rounds * perRound
  await eventually(
    () => count("events where type = 'HoldPosted'"),
    (posted) => posted === payouts,
  )
  for (const type of ['PayoutSent', 'PayoutPaid', 'HoldPlaced', 'HoldAdvanced', 'HoldPosted'])
    t.equal(await count(`events where type = '${type}'`), payouts, type)
  t.equal(await count("events where type in ('PayoutFailed', 'HoldVoided', 'CaseOpened')"), 0)
  t.equal(await count('parked'), 0)
  const state = await readState(dependencies.store, book, bookId(credentials.merchant_id, false, 'XOF'))
  t.equal(balances(state).reserved, 0)
  t.equal(
    balanceOf(state, provider('mobile_money.SN.wave')),
    -payouts * amount,
    'the operator has paid each once',
  )
})
