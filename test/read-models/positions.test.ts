import t from 'tap'
import { PostgresReadStore } from '../../infra/postgres/read-models/read-store.ts'
import { publications } from '../../infra/postgres/read-models/publication.ts'
import { readModels } from '../../projections/index.ts'
import { journal } from '../../projections/journal.ts'
import { payouts } from '../../projections/payouts.ts'
import { startService } from '../support/service.ts'

t.test('who waits for one read model does not wait for another that is behind', async (t) => {
  const { service } = await startService(t)
  const { postgres, dependencies } = service.runtime
  const head = await dependencies.store.head()
  t.ok(await dependencies.reads.reached(head, 10_000))
  const { version, generation } = (await publications(postgres.pool)).get(journal.name)!
  const table = `read.journal_v${version}_${generation}`
  await postgres.pool.query('update checkpoints set position = position - 1 where name = $1', [table])
  // What was reached once is not looked up again, so somebody new asks.
  const reads = new PostgresReadStore(postgres, readModels)
  t.notOk(await reads.reached(head, 50), 'all of them')
  t.notOk(await reads.reached(head, 50, journal.name), 'the one that is behind')
  t.ok(await reads.reached(head, 50, payouts.name), 'another one')
  t.equal(await reads.position(), head - 1)
})
