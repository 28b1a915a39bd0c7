import { financeViews } from '../../infra/postgres/finance/finance.ts'
import type { Subscription } from '../../packages/kernel/ports.ts'
import { readModels } from '../../projections/index.ts'
import { deciders } from '../composition/deciders.ts'
import type { Opened } from '../composition/dependencies.ts'
import { leading } from '../composition/leading.ts'
import { tracedBatches } from '../composition/traced.ts'
import { startProjector } from './main.ts'

/** Keeps the read models while this process is the projector, and stands by while another is. */
export function runProjector(opened: Opened): Subscription {
  const {
    postgres: { pool },
    house: { log, tracing },
  } = opened
  const store = tracing ? tracedBatches(opened.house.store, tracing, 'project') : opened.house.store
  return leading(opened, 'projector', ({ fence }) =>
    startProjector({ pool, store, models: readModels, deciders, dependents: financeViews, log, fence }),
  )
}
