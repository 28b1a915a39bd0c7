import { Checkpoints } from '../../../infra/postgres/consumers/checkpoints.ts'
import { openBus } from '../../../services/composition/bus.ts'
import { serve } from '../../../services/composition/serve.ts'
import { runRelay } from '../../../services/relay/service.ts'

/** A relay with a bug: it writes down that it has published before it does. */
await serve('relay', async (opened) => {
  const { store } = opened.house
  const checkpoints = new Checkpoints(opened.postgres.pool)
  const subscribe = store.subscribe.bind(store)
  store.subscribe = (options) =>
    subscribe({
      ...options,
      handle: async (events, through) => {
        await checkpoints.save('relay', through)
        await options.handle(events, through)
      },
    })
  return runRelay(opened, await openBus(opened, { isShared: true }))
})
