import type { Runtime } from '../composition/dependencies.ts'
import { runProjector } from '../projector/service.ts'
import { CommandFailedError } from './terminal/failure.ts'
import { progress } from './terminal/output.ts'

/** Where no service runs, this process runs the projector while the work takes: only one leads. */
export async function whileProjecting<Result>(
  runtime: Runtime,
  work: () => Promise<Result>,
): Promise<Result> {
  const projector = runProjector(runtime)
  try {
    return await work()
  } finally {
    await projector.close()
  }
}

const patienceMs = 60_000

/** Waits until the read models reflect the log's current head; returns its position. */
export async function upToDate({ dependencies: { store, reads } }: Runtime): Promise<number> {
  const head = await store.head()
  if (await reads.reached(head, patienceMs)) return head
  throw new CommandFailedError(
    'The read models are behind the log: see `ikw projections status` and `ikw parked list`.',
  )
}

/** Builds all read models of a new database, however long it takes, as long as they make progress. */
export function buildReadModels(runtime: Runtime): Promise<void> {
  const { store, reads } = runtime.dependencies
  return whileProjecting(runtime, async () => {
    const head = await store.head()
    const bar = progress('read models')
    try {
      for (let position = -1; !(await reads.reached(head, patienceMs));) {
        const now = await reads.position()
        if (now === position)
          throw new CommandFailedError('The read models do not get on: see `ikw parked list`.')
        position = now
        bar.show(position, head)
      }
    } finally {
      bar.end()
    }
  })
}
