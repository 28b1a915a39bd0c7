import { openBus } from '../composition/bus.ts'
import { serve } from '../composition/serve.ts'
import { runRelay } from './service.ts'

await serve('relay', async (runtime) => {
  const bus = await openBus(runtime, { isShared: true })
  const running = runRelay(runtime, bus)
  const close = async () => {
    await running.close()
    await bus.close()
  }
  return { close }
})
