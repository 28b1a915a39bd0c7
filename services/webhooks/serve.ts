import { openBus } from '../composition/bus.ts'
import { serve } from '../composition/serve.ts'
import { runWebhooks } from './service.ts'

await serve('webhooks', async (runtime) => {
  const bus = await openBus(runtime, { isShared: true })
  const running = await runWebhooks(runtime, bus)
  const close = async () => {
    await running.close()
    await bus.close()
  }
  return { close }
})
