import { financeViews } from '../../infra/postgres/finance/finance.ts'
import type { Subscription } from '../../packages/kernel/ports.ts'
import { readModels } from '../../projections/index.ts'
import { deciders } from '../../packages/domain/index.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { leading } from '../composition/leading.ts'
import { tracedBatches } from '../composition/observing/traced.ts'
import { watchReaders } from './overdue-readers.ts'
import { startProjector } from './main.ts'

/** Keeps the read models while this process leads, and stands by while another does. */
export function runProjector(runtime: Runtime): Subscription {
  const {
    postgres: { pool },
    dependencies: { log, tracing },
    turns,
  } = runtime
  const store = tracing
    ? tracedBatches(runtime.dependencies.store, tracing, 'project')
    : runtime.dependencies.store
  const options = { pool, store, models: readModels, deciders, dependents: financeViews, log }
  const giveWay = turns.lane()
  return leading(runtime, 'projector', async ({ fence }) => {
    const projector = await startProjector({ ...options, fence, giveWay })
    const readers = watchReaders({ pool, log })
    return { close: async () => void (await Promise.all([projector.close(), readers.close()])) }
  })
}
