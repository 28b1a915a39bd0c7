import { financeViews } from '../../infra/postgres/finance.ts'
import type { Subscription } from '../../packages/kernel/ports.ts'
import { readModels } from '../../projections/index.ts'
import { deciders } from '../composition/deciders.ts'
import type { Opened } from '../composition/house.ts'
import { leading } from '../composition/leading.ts'
import { startProjector } from './main.ts'

/** Keeps the read models while this process is the projector, and stands by while another is. */
export function runProjector(opened: Opened): Subscription {
  const {
    postgres: { pool },
    house: { store, log },
  } = opened
  return leading(opened, 'projector', ({ fence }) =>
    startProjector({ pool, store, models: readModels, deciders, dependents: financeViews, log, fence }),
  )
}
