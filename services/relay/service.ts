import type { EventBus } from '../../packages/kernel/message-ports.ts'
import type { Subscription } from '../../packages/kernel/ports.ts'
import type { Opened } from '../composition/dependencies.ts'
import { leading } from '../composition/leading.ts'
import { startRelay } from './main.ts'
import { publicSources } from './sources.ts'

/** Publishes while this process is the relay, and stands by while another is. */
export function runRelay(opened: Opened, bus: EventBus): Subscription {
  const {
    postgres: { pool },
    house: { store, log },
    snapshots,
  } = opened
  return leading(opened, 'relay', ({ fence }) =>
    startRelay({ pool, store, snapshots, bus, sources: publicSources, log, fence }),
  )
}
