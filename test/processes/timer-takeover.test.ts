import t from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { balances } from '../../packages/domain/ledger/state.ts'
import { holdFor } from '../../packages/domain/payouts/terms.ts'
import { readState } from '../../packages/kernel/history.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { firstMerchant } from '../../services/composition/first-merchant.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { ServiceApart } from '../support/processes/service-apart.ts'

const holds = 2_000
const perWrite = 500
/** More than a hold waits for its claim. */
const longAgoMs = 3_600_000
/** One runner's clock is ahead by this, the other one's behind. */
const skewMs = 600_000

const { url, pool } = await testDatabase(t)
const settings = { POSTGRES_URL: url, DATA_DIR: temporaryDirectory(t), LOG_LEVEL: 'silent', PORT: '0' }

/** Money held for payouts that were never requested: each hold has a timer that has been due for long. */
async function holdMoney(): Promise<string> {
  const clock = () => new Date(Date.now() - longAgoMs)
  const runtime = await openRuntime(readConfiguration(settings), { clock })
  const { merchant_id: merchant } = await firstMerchant(runtime, temporaryDirectory(t))
  const { dependencies, close } = runtime
  const money = {
    amount: 100,
    fee: 0,
    currency: 'XOF',
    source: 'merchant.available',
    rail: 'bank.XOF',
  } as const
  const envelope = { merchant, livemode: false, actor: 'test', correlation: dependencies.newId() }
  const id = bookId(merchant, false, 'XOF')
  for (let placed = 0; placed < holds; placed += perWrite) {
    const commands = Array.from({ length: perWrite }, () => {
      const command = { type: 'PlaceHold', data: holdFor(dependencies.newId(), money) } as const
      return { command, envelope }
    })
    await dependencies.executor.sendAll(book, id, commands)
  }
  await close()
  return merchant
}

async function count(text: string): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(`select count(*)::integer as count from ${text}`)
  return rows[0]!.count
}

const givenBack = () => count("events where type = 'HoldVoided'")

/** The process that was given the share of the merchant's timers last. */
async function holderOf(merchant: string): Promise<string> {
  const text = "select instance from leaders where name = 'timers ' || (hashtext($1) & 7)"
  return (await pool.query<{ instance: string }>(text, [merchant])).rows[0]!.instance
}

for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
  t.test(`after ${signal} of the runner of timers the other one goes on, and each fires once`, async (t) => {
    const merchant = await holdMoney()
    const before = await givenBack()
    const projector = new ServiceApart(t, 'projector', settings)
    await projector.port()
    await eventually(
      () => count("read.timers where kind = 'hold_unclaimed'"),
      (waiting) => waiting === holds,
    )
    const runners = [skewMs, -skewMs].map((clockSkewMs, index) => {
      const environment = { ...settings, INSTANCE: `processes-${index}-${signal}` }
      return new ServiceApart(t, 'processes', environment, { clockSkewMs })
    })
    await eventually(givenBack, (ended) => ended > before)
    const holder = await holderOf(merchant)
    const runner = runners.find(({ instance }) => instance === holder)!
    runner.signal(signal)
    const left = before + holds - (await givenBack())
    t.ok(left > 0, `${left} are left to the other one`)
    await eventually(givenBack, (ended) => ended === before + holds)
    t.not(await holderOf(merchant), holder)
    if (signal === 'SIGSTOP') runner.signal('SIGCONT')
    await eventually(
      () => count("read.timers where kind = 'hold_unclaimed'"),
      (waiting) => waiting === 0,
    )
    t.equal(await givenBack(), before + holds)
    const twice = `(select from events where type in ('HoldVoided', 'PayoutAbandoned')
      group by type, data->>'holdId', stream having count(*) > 1) twice`
    t.equal(await count(twice), 0)
    const runtime = await openRuntime(readConfiguration(settings))
    const state = await readState(runtime.dependencies.store, book, bookId(merchant, false, 'XOF'))
    t.match(balances(state), { available: 1_000_000, reserved: 0 })
    await runtime.close()
    await Promise.all([projector, ...runners].map((one) => one.end('SIGKILL')))
  })
}
