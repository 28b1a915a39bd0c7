import { join } from 'node:path'
import t from 'tap'
import { v7 } from 'uuid'
import { identity } from '../../packages/contract/identity.ts'
import { publishMissing } from '../../infra/postgres/read-models/publication.ts'
import { noteUpkeep, upkeepAges } from '../../infra/postgres/upkeep.ts'
import { waitingTimers } from '../../infra/postgres/waiting-timers.ts'
import { readModels } from '../../projections/index.ts'
import { ikw, settingsOf } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { intentsPath, orange, order } from '../support/payments/payments.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { ScriptedRail } from '../support/payments/scripted-rail.ts'
import { startService, type TestService } from '../support/service.ts'

const operator = new ScriptedRail()
let service: TestService

t.before(async () => {
  service = await startService(t, {}, { rails: [{ environments: ['sandbox'], rail: operator }] })
})

const metrics = async () => String((await service.health<string>('/metrics')).body)

function shows(pattern: RegExp): Promise<string> {
  return eventually(metrics, (text) => pattern.test(text))
}

t.test('payouts that end are counted by operator and outcome', async () => {
  const destination = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn: '+221770000000' }
  const words = [
    { state: 'succeeded' },
    { state: 'succeeded' },
    { state: 'failed', code: 'operator_declined', message: 'no' },
  ] as const
  for (const word of words) {
    const { body } = await service.post('/api/v1/payouts', { amount: 500, currency: 'XOF', destination })
    const id = identity(String(body['id']), 'po')!
    await operator.submitted(({ reference }) => reference === id)
    await operator.say(id, word)
  }
  const ended = 'payouts_ended_total{environment="sandbox",rail="mobile_money.SN.wave"'
  const all = [`${ended},outcome="paid"} 2\n`, `${ended},outcome="failed"} 1\n`]
  await eventually(metrics, (text) => all.every((line) => text.includes(line)))
})

t.test('payments that end are counted by operator, and apart those that the payer declined', async (t) => {
  t.teardown(() => (operator.answer = () => ({ state: 'pending' })))
  const words = [
    { state: 'succeeded' },
    { state: 'failed', code: 'provider_unavailable', message: 'no' },
    { state: 'failed', code: 'payer_declined', message: 'no' },
    { state: 'failed', code: 'payer_declined', message: 'no' },
  ] as const
  for (const word of words) {
    operator.answer = () => word
    const { body } = await service.post(intentsPath, order)
    t.equal((await service.post(`${intentsPath}/${String(body['id'])}/confirm`, orange())).status, 200)
  }
  const ended = 'payments_ended_total{environment="sandbox",rail="mobile_money.SN.orange_money"'
  const counts = { succeeded: 1, failed: 1, declined: 2 }
  const all = Object.entries(counts).map(([outcome, count]) => `${ended},outcome="${outcome}"} ${count}\n`)
  await eventually(metrics, (text) => all.every((line) => text.includes(line)))
})

t.test('a backup and a verification are as old as their last success', async (t) => {
  t.notMatch(await metrics(), /^upkeep_age_seconds\{/m, 'there was none')
  const settings = settingsOf(service)
  t.equal((await ikw(settings, 'backup', join(temporaryDirectory(t), 'backup'))).code, 0)
  t.equal((await ikw(settings, 'ledger', 'verify')).code, 0)
  for (const task of ['backup', 'verification'])
    await shows(new RegExp(`^upkeep_age_seconds.task="${task}". `, 'm'))
})

t.test('an older success does not hide a newer one', async (t) => {
  const { pool } = await testDatabase(t)
  const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds))
  await noteUpkeep(pool, { task: 'backup', position: 9, at: at(30) })
  await noteUpkeep(pool, { task: 'backup', position: 5, at: at(10) })
  t.strictSame(await upkeepAges(pool, at(90)), { backup: 60 })
})

t.test('the notary comes to where the log ends', async () => {
  const position = (name: string, text: string) => new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]
  await eventually(metrics, (text) => {
    const signed = position('notarised_position', text)
    return signed !== undefined && signed !== '0' && signed === position('log_position', text)
  })
})

t.test('what waits is told by what it waits for, and apart for each environment', async (t) => {
  const { pool } = await testDatabase(t)
  await publishMissing(pool, readModels, '')
  const now = new Date('2026-03-01T12:00:00Z')
  const ago = (seconds: number) => new Date(now.getTime() - seconds * 1_000)
  const set = async (
    kind: string,
    subject: string,
    { due, live = true }: { due: number; live?: boolean },
  ) => {
    const text = `insert into read.timers (id, kind, subject, merchant, livemode, due_at)
      values ($1, $2, $3, $4, $5, $6)`
    await pool.query(text, [`${kind}:${subject}`, kind, subject, v7(), live, ago(due)])
  }
  const tried = async (id: string, due: number, again: number) => {
    const text = 'insert into timer_attempts (id, due_at, attempts, again_at) values ($1, $2, 1, $3)'
    await pool.query(text, [id, ago(due), ago(again)])
  }
  const found = async () => new Map((await waitingTimers(pool, now)).map((row) => [row.livemode, row]))
  const nothing = { lagSeconds: 0, clearingSeconds: 0, suspenseSeconds: 0, payoutsDelayed: 0 }
  await set('payout_status', 'new', { due: -10 })
  const before = await found()
  for (const livemode of [true, false]) t.strictSame(before.get(livemode), { livemode, ...nothing })

  await set('payout_status', 'late', { due: 900 })
  await tried('payout_status:late', 900, -20)
  await set('payout_status', 'expected later', { due: 400 })
  await set('payout_late', 'expected later', { due: -3_600 })
  await tried('payout_status:expected later', 400, 7)
  await set('late_refund', 'given back', { due: 50, live: false })
  const after = await found()
  t.strictSame(after.get(true), {
    livemode: true,
    lagSeconds: 7,
    clearingSeconds: 900,
    suspenseSeconds: 0,
    payoutsDelayed: 1,
  })
  t.strictSame(after.get(false), { livemode: false, ...nothing, lagSeconds: 50, suspenseSeconds: 50 })
})
