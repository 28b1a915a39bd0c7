import t from 'tap'
import { connectPostgres } from '../../infra/postgres/client/connect.ts'
import { leafIndexes } from '../../infra/postgres/transparency/leaf-indexes.ts'
import { tileWidth } from '../../infra/transparency/tiles.ts'
import { lawOver } from '../support/law.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'

/** Whole bundles and the beginning of one, by the positions of their events. */
const bundles = {
  'begins late and has no gaps': positionsFrom(7, () => 1),
  'has a gap in the middle': positionsFrom(7 + tileWidth, (place) => (place === 100 ? 2 : 1)),
  'is as sparse as a log of EventStoreDB': positionsFrom(10_000, (place) => 140 + (place % 3)),
  'has only begun': positionsFrom(1_000_000, () => 1).slice(0, 10),
}
const found = Object.values(bundles).flat()
const grown = positionsFrom(1_000_010, () => 1).slice(0, 5)

t.test('an event is found at its leaf, whatever the gaps between positions', async (t) => {
  const { url } = await testDatabase(t)
  const { pool, close } = await connectPostgres({ url, dataDirectory: temporaryDirectory(t) })
  t.teardown(close)
  for (const [index, positions] of Object.values(bundles).entries())
    await pool.query("insert into log_bundles values ($1, $2, $3, '')", [index, positions[0], positions])
  const indexOf = leafIndexes(pool)
  const asked = [...found.entries()].sort(([one], [other]) => ((one * 7) % 97) - ((other * 7) % 97))
  const leaves = asked.map(([leaf]) => leaf)
  await lawOver(t, ['from the database', 'from memory'], async (source) => {
    t.same(await Promise.all(asked.map(([, position]) => indexOf(position))), leaves, source)
  })
  await lawOver(t, [1, 6, 100 + 7 + tileWidth, 10_001, 999_999, 1_000_010, 2_000_000], async (position) => {
    t.equal(await indexOf(position), undefined, `nothing stands at ${position}`)
  })
  await pool.query('update log_bundles set positions = positions || $1::bigint[] where index = 3', [grown])
  await lawOver(t, [...grown.entries()], async ([place, position]) => {
    t.equal(await indexOf(position), found.length + place, `${position} was added to the last bundle`)
  })
})

function positionsFrom(first: number, stepAfter: (place: number) => number): number[] {
  const positions = [first]
  for (let place = 1; place < tileWidth; place++) positions.push(positions.at(-1)! + stepAfter(place))
  return positions
}
