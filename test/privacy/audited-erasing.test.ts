import t from 'tap'
import { vouchedKeys } from '../../infra/postgres/transparency/log-keys.ts'
import { deciders } from '../../packages/domain/index.ts'
import { readModels } from '../../projections/index.ts'
import { compareReadModels, type CompareOptions } from '../../services/audit/compare.ts'
import { auditWholeLog } from '../../services/notary/audit-log.ts'
import { rebuildModels } from '../../services/cli/projections.ts'
import { erase, type Erasing } from '../../services/privacy/erase.ts'
import { contactOf } from '../../services/privacy/person.ts'
import { startPayments, type Payments } from '../support/payments/payments.ts'
import { allSigned } from '../support/verifying/signed-backup.ts'

let service: Payments

t.before(async () => {
  service = await startPayments(t, { keysFreshMs: 100 })
})

/** Somebody who was paid, and whom nothing on its way needs any more. */
async function paidOut(msisdn: string): Promise<Erasing> {
  const destination = { type: 'mobile_money', country: 'SN', operator: 'wave', msisdn }
  const request = { amount: 500, currency: 'XOF', destination }
  const { body } = await service.post('/api/v1/payouts', request, { headers: { 'idempotency-key': msisdn } })
  await service.post('/api/test/payouts/callback', { payout_id: body['id'], status: 'paid' })
  const { runtime, credentials } = service.service
  await runtime.dependencies.reads.reached(await runtime.dependencies.store.head(), 10_000)
  return {
    person: contactOf(msisdn, { merchant: credentials.merchant_id, livemode: false }),
    by: 'awa',
    reason: 'Asked for it',
    rebuild: (models) => rebuildModels(runtime, models),
  }
}

const runtime = () => service.service.runtime
const pool = () => runtime().postgres.pool

/** A log before which this is done, once: when the tables have been copied. */
function storeAfter(work: () => Promise<unknown>) {
  const { store } = runtime().dependencies
  let isDone = false
  const readOn = async function* (after: number) {
    if (!isDone) await work()
    isDone = true
    yield* store.readOn(after)
  }
  return { ...store, readOn }
}

function compared(more: Pick<CompareOptions, 'store'> & Partial<CompareOptions>) {
  const onProgress = () => undefined
  return compareReadModels({ pool: pool(), models: readModels, deciders, onProgress, ...more })
}

function wholeLog(store: CompareOptions['store']) {
  const { asStored: stored, dependencies } = runtime()
  const { vault, clock: now } = dependencies
  const verifierKeys = () => vouchedKeys({ pool: pool(), vault })
  const audited = { pool: pool(), stored, store: { ...dependencies.store, ...store }, now, witnesses: [] }
  const pace = { share: 1, signal: new AbortController().signal }
  return auditWholeLog({ ...audited, verifierKeys }, pace)
}

t.test('who is erased between the look at the tables and that at the log is no finding', async (t) => {
  const [one, other] = [await paidOut('+221770004001'), await paidOut('+221770004002')]
  const whole = await compared({ store: storeAfter(() => erase(runtime(), one)) })
  t.strictSame(whole.differences, [])
  const parts = await compared({ store: storeAfter(() => erase(runtime(), other)), rowsPerPass: 10 })
  t.strictSame(parts.differences, [])
})

t.test("nor is one for the service's own auditor", async (t) => {
  const erasing = await paidOut('+221770004003')
  await allSigned(service)
  const { problems } = await wholeLog(storeAfter(() => erase(runtime(), erasing)))
  t.strictSame(problems, [])
})

t.test('a row that was changed is found, also where somebody in it is erased meanwhile', async (t) => {
  const erasing = await paidOut('+221770004004')
  const changed = async () => {
    await erase(runtime(), erasing)
    await pool().query(`update read.payouts set status = 'failed' where created =
      (select max(created) from read.payouts)`)
  }
  const { differences } = await compared({ store: storeAfter(changed) })
  t.match(differences, [{ model: 'payouts', column: 'status' }])
  await rebuildModels(
    runtime(),
    readModels.filter(({ name }) => name === 'payouts'),
  )
})

t.test('an erasure that goes on is waited for, and found once it was cut off', async (t) => {
  const erasing = await paidOut('+221770004005')
  const onStep = (step: string) => {
    if (step === 'building read models anew') throw new Error('killed')
  }
  await t.rejects(erase(runtime(), { ...erasing, onStep }), /killed/)
  const { store } = runtime().dependencies
  const goesOn = await compared({ store, patienceMs: 0 })
  const told = { row: '', problem: /^1 rows cannot be compared: somebody in them is being erased since / }
  t.match(goesOn.differences, [{ ...told, isToldElsewhere: true }])
  await pool().query(`update erasures set begun_at = begun_at - interval '25 hours' where done_at is null`)
  const cutOff = await compared({ store, patienceMs: 0 })
  t.match(cutOff.differences, [told])
  t.notOk(cutOff.differences[0]!.isToldElsewhere)
  const done = compared({ store })
  await erase(runtime(), erasing)
  t.strictSame((await done).differences, [])
})
