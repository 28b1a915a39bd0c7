import { openBus } from '../composition/bus.ts'
import { serve } from '../composition/serve.ts'
import { runRelay } from './service.ts'

await serve('relay', async (opened) => {
  const bus = await openBus(opened, { isShared: true })
  const running = runRelay(opened, bus)
  const close = async () => {
    await running.close()
    await bus.close()
  }
  return { close }
})
