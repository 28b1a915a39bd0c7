import type pg from 'pg'
import t from 'tap'
import { Checkpoints } from '../../infra/postgres/consumers/checkpoints.ts'
import { fenceOf } from '../../infra/postgres/consumers/fence.ts'
import { eventually } from '../support/eventually.ts'
import { testDatabase } from '../support/postgres.ts'

t.test('what was passed is saved soon, and never behind what was done after it', async (t) => {
  const { pool } = await testDatabase(t)
  const saved = async () => (await new Checkpoints(pool).load('test')).position
  const checkpoints = new Checkpoints(pool)
  await checkpoints.load('test')

  checkpoints.passed('test', 3)
  t.equal(await saved(), 0, 'not at once')
  await eventually(saved, (position) => position === 3)

  checkpoints.passed('test', 4)
  await checkpoints.save('test', 5)
  checkpoints.passed('other', 1)
  await checkpoints.close()
  t.equal(await saved(), 5)

  checkpoints.passed('test', 7)
  await checkpoints.close()
  t.equal(await saved(), 7, 'at the end')
})

t.test('positions are saved while events keep coming', async (t) => {
  const { pool } = await testDatabase(t)
  const checkpoints = new Checkpoints(pool)
  await checkpoints.load('test')
  let position = 0
  const coming = setInterval(() => checkpoints.passed('test', ++position), 2)
  t.teardown(() => clearInterval(coming))
  await eventually(
    async () => (await new Checkpoints(pool).load('test')).position,
    (saved) => saved > 0,
  )
  clearInterval(coming)
  await checkpoints.close()
})

t.test(
  'a leader that is deposed saves nothing any more; a database that was away gets it later',
  async (t) => {
    const { pool } = await testDatabase(t)
    await new Checkpoints(pool).load('test')
    const saved = async () => (await new Checkpoints(pool).load('test')).position
    await pool.query("insert into leaders (name, epoch, instance) values ('test', 1, 'test')")
    const lost: string[] = []
    const checkpoints = new Checkpoints(
      pool,
      fenceOf([{ name: 'test', epoch: 1 }], () => lost.push('test')),
    )
    await pool.query('update leaders set epoch = 2')
    checkpoints.passed('test', 3)
    await checkpoints.close()
    t.strictSame(lost, ['test'])
    await pool.query('update leaders set epoch = 1')
    await checkpoints.close()
    t.equal(await saved(), 0)

    await pool.query('alter table checkpoints rename to checkpoints_away')
    checkpoints.passed('test', 4)
    await checkpoints.close()
    await pool.query('alter table checkpoints_away rename to checkpoints')
    await checkpoints.close()
    t.equal(await saved(), 4)
  },
)

t.test('what was passed is saved by one statement at a time, so that none waits for another', async (t) => {
  const { pool } = await testDatabase(t)
  const under = { way: 0, most: 0 }
  const query = async (asked: pg.QueryConfig) => {
    under.most = Math.max(under.most, ++under.way)
    return pool.query(asked).finally(() => under.way--)
  }
  // What was passed is saved with nothing else of a pool.
  const checkpoints = new Checkpoints({ query } as unknown as pg.Pool)
  await new Checkpoints(pool).load('test')
  const other = await pool.connect()
  await other.query("begin; select from checkpoints where name = 'test' for update")
  checkpoints.passed('test', 1)
  const first = checkpoints.close()
  await eventually(
    async () => under.way,
    (way) => way === 1,
  )
  checkpoints.passed('test', 2)
  const second = checkpoints.close()
  await other.query('commit')
  other.release()
  await Promise.all([first, second])
  t.equal(under.most, 1)
  t.equal((await new Checkpoints(pool).load('test')).position, 2)
})
