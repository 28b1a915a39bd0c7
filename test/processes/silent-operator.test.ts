import t from 'tap'
import { identity } from '../../packages/contract/identity.ts'
import { RailTimeoutError, type RailState } from '../../packages/kernel/ports/rails.ts'
import { eventually } from '../support/eventually.ts'
import { ScriptedRail } from '../support/payments/scripted-rail.ts'
import { startService, type TestService } from '../support/service.ts'

const operator = new ScriptedRail()
const other = new ScriptedRail()
let service: TestService

t.before(async () => {
  service = await startService(
    t,
    {},
    {
      rails: [
        { environments: ['sandbox'], operators: ['wave'], rail: operator },
        { environments: ['sandbox'], rail: other },
      ],
    },
  )
})

const patienceMs = 20_000
const paid: RailState = { state: 'succeeded' }
const failed: RailState = { state: 'failed', code: 'operator_declined', message: 'no' }
const returned: RailState = { state: 'returned' }

async function request(name: string): Promise<string> {
  const destination = { type: 'mobile_money', country: 'SN', operator: name, msisdn: '+221770000000' }
  const body = { amount: 5_000, currency: 'XOF', destination }
  const answer = await service.post('/api/v1/payouts', body)
  return identity(String(answer.body['id']), 'po')!
}

async function typesOf(payout: string): Promise<readonly string[]> {
  const { store } = service.service.runtime.dependencies
  return (await store.readStream(`payout-${payout}`, 0)).map(({ type }) => type)
}

async function setAside(): Promise<readonly string[]> {
  const { pool } = service.service.runtime.postgres
  const { rows } = await pool.query<{ stream: string }>('select stream from parked')
  return rows.map(({ stream }) => stream)
}

t.test(
  'an operator that answers nobody holds up its own payout, which goes on when it answers',
  async (t) => {
    let isSilent = true
    let unanswered = 0
    const answering = operator.status
    operator.status = async (reference) => {
      if (!isSilent || !(await typesOf(reference)).includes('PayoutPaidLate')) return answering(reference)
      unanswered++
      throw new RailTimeoutError('silence')
    }
    const late = await request('wave')
    await operator.say(late, failed)
    await operator.say(late, paid)
    await eventually(
      async () => unanswered,
      (times) => times > 0,
      patienceMs,
    )

    const next = await request('orange_money')
    await other.submitted(({ reference }) => reference === next)
    t.strictSame(await setAside(), [`payout-${late}`])
    operator.set(late, returned)
    isSilent = false
    await eventually(
      () => typesOf(late),
      (types) => types.at(-1) === 'PayoutReturned',
      patienceMs,
    )
    await eventually(setAside, (streams) => streams.length === 0, patienceMs)
    t.equal((await typesOf(late)).filter((type) => type === 'PayoutReturned').length, 1)
  },
)
