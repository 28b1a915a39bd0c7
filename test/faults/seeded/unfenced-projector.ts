import { financeViews } from '../../../infra/postgres/finance/finance.ts'
import { readModels } from '../../../projections/index.ts'
import { deciders } from '../../../packages/domain/index.ts'
import { leading } from '../../../services/composition/leading.ts'
import { serve } from '../../../services/composition/serve.ts'
import { startProjector } from '../../../services/projector/main.ts'

/** A projector with a bug: once elected, it writes for ever, without a look at who leads. */
await serve('projector', async (runtime) => {
  const { postgres, dependencies } = runtime
  const { pool } = postgres
  const { store, log } = dependencies
  return leading(runtime, 'projector', async () => {
    await startProjector({ pool, store, models: readModels, deciders, dependents: financeViews, log })
    return { close: async () => undefined }
  })
})
