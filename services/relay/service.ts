import type { EventBus } from '../../packages/kernel/ports/messages.ts'
import type { Subscription } from '../../packages/kernel/ports.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { leading } from '../composition/leading.ts'
import { startRelay } from './main.ts'
import { publicSources } from '../../packages/domain/index.ts'

/** Publishes while this process leads, and stands by while another does. */
export function runRelay(runtime: Runtime, bus: EventBus): Subscription {
  const {
    postgres: { pool },
    dependencies: { store, log, personalKeys },
    snapshots,
    turns,
  } = runtime
  const giveWay = turns.lane()
  return leading(runtime, 'relay', async ({ fence }) => {
    const sources = publicSources
    const relay = await startRelay({ pool, store, snapshots, bus, sources, log, fence, giveWay })
    const watching = personalKeys.watch(() => relay.forget())
    const close = async () => {
      await watching.close()
      await relay.close()
    }
    return { close }
  })
}
