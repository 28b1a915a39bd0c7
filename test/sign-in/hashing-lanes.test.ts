import t from 'tap'
import { HashingLanes } from '../../infra/secrets/hashing-lanes.ts'

/** Work that ends when it is told to, on lanes whose clock stands still until it is moved. */
function lanesOf(most: number) {
  const clock = { now: 0 }
  const lanes = new HashingLanes({ most, now: () => clock.now })
  const running: (() => void)[] = []
  const asked: Promise<void>[] = []
  const ask = (times: number) => {
    while (times-- > 0) asked.push(lanes.run(() => new Promise<void>((end) => running.push(end))))
  }
  const endOne = async () => {
    running.shift()!()
    await Promise.race(asked.splice(0, 1))
  }
  return { lanes, clock, running, ask, endOne }
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
