import { openBus } from '../composition/bus.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { serve } from '../composition/serve.ts'
import { runWebhooks } from './service.ts'

const start = async (runtime: Runtime) => {
  const bus = await openBus(runtime, { isShared: true })
  const running = await runWebhooks(runtime, bus)
  const close = async () => {
    await running.close()
    await bus.close()
  }
  return { close }
}

await serve('webhooks', start, { usesBus: true })
