import { Checkpoints } from '../../../infra/postgres/consumers/checkpoints.ts'
import { openBus } from '../../../services/composition/bus.ts'
import type { Runtime } from '../../../services/composition/dependencies.ts'
import { serve } from '../../../services/composition/serve.ts'
import { runRelay } from '../../../services/relay/service.ts'

/** A relay with a bug: it writes down that it has published before it does. */
const start = async (runtime: Runtime) => {
  const { store } = runtime.dependencies
  const checkpoints = new Checkpoints(runtime.postgres.pool)
  const subscribe = store.subscribe.bind(store)
  store.subscribe = (options) =>
    subscribe({
      ...options,
      handle: async (events, through) => {
        await checkpoints.save('relay', through)
        await options.handle(events, through)
      },
    })
  return runRelay(runtime, await openBus(runtime, { isShared: true }))
}

await serve('relay', start, { usesBus: true })
