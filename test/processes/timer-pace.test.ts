import t from 'tap'
import { Checkpoints } from '../../infra/postgres/consumers/checkpoints.ts'
import { TimerPace } from '../../services/processes/runner/timer-pace.ts'
import { testDatabase } from '../support/postgres.ts'

const followers = ['policies', 'reactions', 'relay']
const reads = { reached: async () => true }
const { signal } = new AbortController()

t.test('timers wait until what was written before their last look is followed', async (t) => {
  const { pool } = await testDatabase(t)
  const checkpoints = new Checkpoints(pool)
  for (const name of followers) await checkpoints.load(name)
  const pace = new TimerPace({ checkpoints, reads, waitMostMs: 60_000 })

  await pace.keep(100, signal)
  let isKept = false
  const keeping = pace.keep(200, signal).then(() => (isKept = true))
  await checkpoints.save('policies', 100)
  await checkpoints.save('reactions', 150)
  t.notOk(isKept, 'the relay has not followed')
  await checkpoints.save('relay', 100)
  await keeping
  t.ok(isKept)
})

t.test('a consumer that stands still, or was never there, does not stop the timers', async (t) => {
  const { pool } = await testDatabase(t)
  const checkpoints = new Checkpoints(pool)
  const pace = new TimerPace({ checkpoints, reads, waitMostMs: 10 })
  await pace.keep(100, signal)
  await pace.keep(200, signal)
  t.equal(await checkpoints.least(followers), Infinity)
  await checkpoints.load('policies')
  await pace.keep(300, signal)
  t.equal(await checkpoints.least(followers), 0)
})
