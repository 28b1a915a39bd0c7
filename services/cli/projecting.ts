import { financeViews } from '../../infra/postgres/finance.ts'
import { lead } from '../../infra/postgres/leader.ts'
import { readModels } from '../../projections/index.ts'
import { deciders } from '../composition/deciders.ts'
import type { Opened } from '../composition/house.ts'
import { startProjector } from '../projector/main.ts'
import { CannotDo } from './failure.ts'

/** Where no service runs, the projector runs here while the work takes: one process leads it. */
export async function whileProjecting<Result>(opened: Opened, work: () => Promise<Result>): Promise<Result> {
  const {
    postgres: { pool },
    house: { store, log },
    configuration: { instance },
  } = opened
  const leadership = lead({ pool, name: 'projector', instance }, async ({ signal, fence }) => {
    const options = { pool, store, models: readModels, deciders, dependents: financeViews, log, fence }
    const projector = await startProjector(options)
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
    await projector.close()
  })
  try {
    return await work()
  } finally {
    await leadership.close()
  }
}

const patienceMs = 60_000

/** Waits until the read models show all that is in the log now; answers its position. */
export async function upToDate({ house: { store, reads } }: Opened): Promise<number> {
  const head = await store.head()
  if (await reads.reached(head, patienceMs)) return head
  throw new CannotDo(
    'The read models are behind the log: see `ikw projections status` and `ikw parked list`.',
  )
}
