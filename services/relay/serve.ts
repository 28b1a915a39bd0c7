import { openBus } from '../composition/bus.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { serve } from '../composition/serve.ts'
import { runRelay } from './service.ts'

const start = async (runtime: Runtime) => {
  const bus = await openBus(runtime, { isShared: true })
  const running = runRelay(runtime, bus)
  const close = async () => {
    await running.close()
    await bus.close()
  }
  return { close }
}

await serve('relay', start, { usesBus: true })
