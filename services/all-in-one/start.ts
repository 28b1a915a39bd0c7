import type { Configuration } from '../../infra/configuration.ts'
import { startApi } from '../api/main.ts'
import { openBus } from '../composition/bus.ts'
import { firstMerchant, type Credentials } from '../composition/first-merchant.ts'
import { openHouse, type HouseOptions, type Opened } from '../composition/dependencies.ts'
import { orClose } from '../composition/serve.ts'
import { runProcesses } from '../processes/service.ts'
import { runProjector } from '../projector/service.ts'
import { runRelay } from '../relay/service.ts'
import { runWebhooks } from '../webhooks/service.ts'

export interface RunningService {
  readonly port: number
  readonly credentials: Credentials
  readonly opened: Opened
  /** Answers what is in flight, then stops everything in the order in which work arrives. */
  close(): Promise<void>
}

/** The whole service in one process. */
export async function startService(
  configuration: Configuration,
  options: HouseOptions = {},
): Promise<RunningService> {
  const opened = await openHouse(configuration, options)
  const bus = await openBus(opened, { isShared: false })
  // Whoever consumes is there before anything is published: a bus in process keeps nothing.
  const webhooks = await runWebhooks(opened, bus)
  const leaders = [runProjector(opened), runProcesses(opened), runRelay(opened, bus)]
  const behind = {
    close: async () => {
      await Promise.all(leaders.map((leader) => leader.close()))
      await webhooks.close()
      await bus.close()
      await opened.close()
    },
  }
  return orClose(behind, async () => {
    const credentials = await firstMerchant(opened.house, configuration.dataDirectory)
    const api = await startApi({ opened })
    const close = async () => {
      await api.close()
      await behind.close()
    }
    return { port: api.port, credentials, opened, close }
  })
}
