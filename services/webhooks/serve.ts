import { openBus } from '../composition/bus.ts'
import { serve } from '../composition/serve.ts'
import { runWebhooks } from './service.ts'

await serve('webhooks', async (opened) => {
  const bus = await openBus(opened, { isShared: true })
  const running = await runWebhooks(opened, bus)
  const close = async () => {
    await running.close()
    await bus.close()
  }
  return { close }
})
