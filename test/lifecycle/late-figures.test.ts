import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { Metrics } from '../../services/composition/observing/metrics.ts'

t.test('a figure that comes late keeps no other waiting, and is told the next time', async (t) => {
  const metrics = new Metrics()
  // Whoever scrapes has a connection; here nothing else keeps the process.
  const alive = setInterval(() => undefined, 1_000)
  t.teardown(() => clearInterval(alive))
  const answers: ((value: number) => void)[] = []
  metrics.gauge('slow', 'Of a database that is slow', () => new Promise((resolve) => answers.push(resolve)))
  metrics.gauge('quick', 'Of one that is not', () => 7)
  const first = await metrics.text()
  t.match(first, /^quick 7$/m)
  t.notMatch(first, /^slow /m)
  t.notMatch(await metrics.text(), /^slow /m)
  t.equal(answers.length, 1, 'it is not asked for again')
  answers.pop()!(1)
  await nextTurn()
  t.match(await metrics.text(), /^slow 1$/m)
  const next = metrics.text()
  answers.pop()!(2)
  t.match(await next, /^slow 2$/m, 'nothing older, where it comes in time')
})
