import t from 'tap'
import { derivedId } from '../../packages/contract/identity.ts'
import { Recent, type KeptRecent } from '../../packages/domain/ledger/recent.ts'
import { lawOver } from '../support/law.ts'

const namespace = '00000000-0000-7000-8000-00000000000a'
const id = (number: number) => derivedId(namespace, String(number))

/** As many as are remembered for certain, before and after the first is forgotten. */
for (const many of [0, 1, 8, 9, 1_000, 1_024, 1_025, 3_000]) {
  t.test(`of ${many} ids the last thousand are remembered, in a snapshot too`, async (t) => {
    const recent = new Recent(Float64Array)
    const amount = (number: number) => Number.MAX_SAFE_INTEGER - number
    for (let number = 0; number < many; number++) recent.remember(id(number), amount(number))
    const kept = JSON.stringify(recent)
    const restored = Recent.from(JSON.parse(kept) as KeptRecent, Float64Array)
    t.equal(JSON.stringify(restored), kept)
    for (const one of [recent, restored]) {
      const known = Array.from({ length: many }, (_, number) => one.recall(id(number)))
      const from = Math.max(0, many - 1_000)
      t.strictSame(known.slice(from), known.map((_, number) => amount(number)).slice(from))
      t.ok(known.filter((value) => value !== undefined).length <= 1_024)
      t.equal(one.recall(id(many)), undefined)
    }
  })
}

t.test('a snapshot goes on as the same state', async (t) => {
  const recent = new Recent(Uint8Array)
  for (let number = 0; number < 1_500; number++) recent.remember(id(number), number % 2)
  const restored = Recent.from(JSON.parse(JSON.stringify(recent)) as KeptRecent, Uint8Array)
  for (const one of [recent, restored]) {
    for (let number = 1_500; number < 1_600; number++) one.remember(id(number), number % 2)
  }
  t.equal(JSON.stringify(restored), JSON.stringify(recent))
  t.equal(restored.recall(id(1_599)), 1)
  t.equal(restored.recall(id(575)), undefined)
  t.equal(restored.recall(id(576)), 0)
})

t.test('ids that differ in one digit are two', async (t) => {
  const recent = new Recent(Uint8Array)
  const one = '01234567-89ab-7def-8123-456789abcdef'
  recent.remember(one, 1)
  t.equal(recent.recall(one), 1)
  await lawOver(t, [...one].entries(), ([index, digit]) => {
    if (digit === '-') return
    const other = `${one.slice(0, index)}${digit === 'f' ? '0' : 'f'}${one.slice(index + 1)}`
    t.equal(recent.recall(other), undefined, other)
  })
})

t.test('what was never remembered is not found, and an id has to be one', async (t) => {
  const recent = new Recent(Uint8Array)
  recent.remember(id(1), 0)
  t.equal(recent.recall('00000000-0000-0000-0000-000000000000'), undefined)
  for (const wrong of ['', 'po_1', id(1).toUpperCase(), `${id(1)}0`]) {
    t.throws(() => recent.recall(wrong), { message: `"${wrong}" is no UUID` })
    t.throws(() => recent.remember(wrong, 1), { message: /is no UUID/ })
  }
})
