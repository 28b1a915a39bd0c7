import t from 'tap'
import { openBench, scales } from '../../bench/support/bench.ts'
import { measure } from '../../bench/support/measure.ts'
import { rowsNamed } from '../../bench/support/report/choice.ts'
import { lawOver } from '../support/law.ts'

/** One for each way to fill a store or to load a service, of those whose peers are on every machine. */
const names = [
  'append-insert',
  'intent',
  'read',
  'list',
  'sessions',
  'rebuild',
  'notary',
  'audit',
  'reconcile',
  'deliver',
]

// How fast they are is for `make bench`: a row that has become impossible to measure is seen here.
t.test('rows of the benchmark can be measured, with little in their stores', async (t) => {
  const bench = await openBench(scales.short)
  t.teardown(() => bench.close())
  await lawOver(t, rowsNamed(names), async (row) => {
    const first = await measure(bench, row)
    // So short a time may pass without anything, where the machine is busy with something else.
    const { ours, peer } = first.ours! > 0 && first.peer! > 0 ? first : await measure(bench, row)
    t.ok(ours! > 0 && peer! > 0, `${row.name}: ${ours} against ${peer} ${row.unit}`)
  })
})
