import t from 'tap'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import { Differences } from '../../services/audit/differences.ts'
import { EffectsAudit } from '../../services/audit/effects.ts'
import type { EntryData } from '../../services/audit/entry-data.ts'
import { Violations } from '../../services/audit/violations.ts'
import { payouts } from '../../projections/payouts.ts'

const wrong = 1_234

t.test('where every row is wrong, some are named and the others counted', async (t) => {
  const differences = new Differences([payouts])
  for (let row = 0; row < wrong; row++)
    differences.add({ model: payouts.name, row: `row ${row}`, problem: 'is another one' })
  const { models, differences: named } = differences.result()
  t.match(models, [{ name: payouts.name, differences: wrong }])
  t.equal(named.length, 1_001)
  t.strictSame(named.at(-1), { model: payouts.name, row: '', problem: 'and 234 more differences' })
})

t.test('where a rule is broken everywhere, so are its violations', async (t) => {
  const violations = new Violations()
  for (let entry = 0; entry < wrong; entry++) violations.note('L1', `entry ${entry}`)
  violations.note('L2', 'one')
  t.equal(violations.found.length, 1_002)
  t.strictSame(violations.found.at(-1), { rule: 'L1', problem: 'and 234 more' })
})

t.test('what another metric tells of is counted by itself, and hides nothing', async (t) => {
  const violations = new Violations()
  for (let account = 0; account < wrong; account++)
    violations.note('L7', `suspense ${account}`, { isToldElsewhere: true })
  violations.note('L7', 'clearing')
  const own = violations.found.filter(({ isToldElsewhere }) => !isToldElsewhere)
  t.strictSame(own, [{ rule: 'L7', problem: 'clearing' }])
  t.strictSame(violations.counts, { L7: wrong + 1 })
  const differences = new Differences([payouts])
  for (let stream = 0; stream < wrong; stream++)
    differences.add({ model: payouts.name, row: '', problem: `${stream} is parked`, isToldElsewhere: true })
  differences.add({ model: payouts.name, row: 'row', problem: 'is another one' })
  const { models, differences: named } = differences.result()
  t.match(models, [{ differences: wrong + 1 }])
  t.match(
    named.filter(({ isToldElsewhere }) => !isToldElsewhere),
    [{ row: 'row' }],
  )
  t.equal(named.at(-1)!.isToldElsewhere, true)
})

t.test('late money goes back and comes again before the book has heard of the first time', async (t) => {
  const [merchant, operationId] = ['first', 'operation']
  const money = { operationId, amount: 5_000, fee: 0, currency: 'XOF', rail: 'mobile_money.SN.wave' }
  const said: string[] = []
  const audit = new EffectsAudit((rule, problem) => said.push(`${rule}: ${problem}`))
  const happens = (type: string, data: object = {}) => {
    const stamp = {
      stream: 'payment_intent-1',
      id: '1',
      position: 1,
      metadata: { merchant, livemode: false },
    }
    audit.event({ ...stamp, type, data: { ...money, ...data } } as unknown as RecordedEvent)
  }
  const isBooked = (template: string) => {
    const amounts = { amount: money.amount, fee: 0 }
    const data = { template, subject: { type: 'operation', id: operationId }, amounts, postings: [] }
    const entry = { type: 'EntryPosted', id: `${merchant}.test.XOF`, data }
    audit.entry(entry as unknown as RecordedEvent<EntryData>)
  }
  happens('PaymentIntentLateSuccessRecorded')
  happens('PaymentIntentLateSuccessRefunded', { nth: 1 })
  happens('PaymentIntentLateRefundContradicted', { remedy: 'reopen', nth: 2 })
  for (const template of ['payment.late', 'payment.late_refund', 'payment.late']) isBooked(template)
  t.equal(audit.end(1), 0)
  t.strictSame(said, [])
  isBooked('payment.late')
  t.match(said, [/follows from no event/], 'a third time nobody asks for')
})
