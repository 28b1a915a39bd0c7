import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { HashingLanes } from '../../infra/secrets/hashing-lanes.ts'

/** Work that ends when it is told to, on lanes whose clock stands still until it is moved. */
function lanesOf(most: number) {
  const clock = { now: 0 }
  const lanes = new HashingLanes({ most, now: () => clock.now })
  const running: (() => void)[] = []
  const told: number[] = []
  let asked = 0
  const run = (work: () => Promise<void>) => {
    const number = ++asked
    const tell = () => void told.push(number)
    lanes.run(work).then(tell, tell)
  }
  const ask = (times: number) => {
    while (times-- > 0) run(() => new Promise<void>((end) => running.push(end)))
  }
  const endOne = async () => {
    running.shift()!()
    await turn()
  }
  return { lanes, clock, running, told, run, ask, endOne }
}

t.test('all processors are used while nobody else is served', async (t) => {
  const { running, ask } = lanesOf(3)
  ask(5)
  await Promise.resolve()
  t.equal(running.length, 3)
})

t.test('one is left free while others are served, and taken again a moment later', async (t) => {
  const { lanes, clock, running, ask, endOne } = lanesOf(3)
  ask(6)
  await Promise.resolve()
  lanes.shareProcessors()
  await endOne()
  t.equal(running.length, 2)
  clock.now = 250
  await endOne()
  t.equal(running.length, 3)
})

t.test('the only processor is never left free for good', async (t) => {
  const { lanes, running, ask } = lanesOf(1)
  lanes.shareProcessors()
  ask(2)
  await Promise.resolve()
  t.equal(running.length, 1)
})

t.test('work that fails makes room for the next', async (t) => {
  const lanes = new HashingLanes({ most: 1, now: () => 0 })
  await t.rejects(lanes.run(() => Promise.reject(new Error('failed'))))
  t.equal(await lanes.run(() => Promise.resolve(1)), 1)
})

t.test('while more waits, results are told two for each lane at a time', async (t) => {
  const { told, ask, endOne } = lanesOf(2)
  ask(8)
  await turn()
  for (let ended = 1; ended < 4; ended++) await endOne()
  t.same(told, [])
  await endOne()
  t.same(told, [1, 2, 3, 4])
  await endOne()
  t.same(told, [1, 2, 3, 4], 'the eighth still waits')
  await endOne()
  t.same(told, [1, 2, 3, 4, 5, 6], 'nothing waits any more')
  await endOne()
  t.same(told, [1, 2, 3, 4, 5, 6, 7])
})

t.test('fewer are told together while others are served', async (t) => {
  const { lanes, told, ask, endOne } = lanesOf(2)
  lanes.shareProcessors()
  ask(4)
  await turn()
  await endOne()
  t.same(told, [])
  await endOne()
  t.same(told, [1, 2])
})

t.test('work that fails holds nobody up', async (t) => {
  const { told, run, ask, endOne } = lanesOf(1)
  ask(1)
  run(() => Promise.reject(new Error('failed')))
  await turn()
  t.same(told, [])
  await endOne()
  t.same(told, [1, 2])
})
