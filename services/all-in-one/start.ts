import type { Configuration } from '../../infra/configuration.ts'
import { InProcessBus } from '../../infra/event-bus/in-process.ts'
import { addressBlocks } from '../../infra/http/addresses.ts'
import { guardedPools } from '../../infra/http/egress.ts'
import { Deliveries } from '../../infra/postgres/deliveries.ts'
import { financeViews } from '../../infra/postgres/finance.ts'
import { Replays } from '../../infra/postgres/replays.ts'
import { PostgresTimers } from '../../infra/postgres/timers.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { readState } from '../../packages/kernel/history.ts'
import type { EventBus, Subscription } from '../../packages/kernel/ports.ts'
import { readModels } from '../../projections/index.ts'
import { startApi } from '../api/main.ts'
import { deciders } from '../composition/deciders.ts'
import { firstMerchant, type Credentials } from '../composition/first-merchant.ts'
import { leading } from '../composition/leading.ts'
import { openHouse, type HouseOptions, type Opened } from '../composition/house.ts'
import { processes } from '../processes/families.ts'
import { startProcesses } from '../processes/main.ts'
import { startProjector } from '../projector/main.ts'
import { startRelay } from '../relay/main.ts'
import { publicSources } from '../relay/sources.ts'
import { startWebhooks } from '../webhooks/main.ts'

/** Domain model, section 4: a webhook has 5 s to connect and 15 s in all; the first 4 kB of its answer are kept. */
const webhookCalls = {
  connectTimeoutMs: 5_000,
  timeoutMs: 15_000,
  answerBytesMax: 4_096,
  originsMax: 1_000,
  connectionsPerOriginMax: 128,
}

export interface RunningService {
  readonly port: number
  readonly credentials: Credentials
  readonly opened: Opened
  /** Answers what is in flight, then stops everything in the order in which work arrives. */
  close(): Promise<void>
}

/** The whole service in one process. */
export async function startService(configuration: Configuration, options: HouseOptions = {}): Promise<RunningService> {
  const opened = await openHouse(configuration, options)
  const bus = new InProcessBus()
  const leaders = [
    leading(opened, 'projector', () => project(opened)),
    leading(opened, 'processes', () => process(opened)),
    leading(opened, 'relay', () => relay(opened, bus)),
  ]
  const webhooks = await deliver(opened, bus)
  const credentials = await firstMerchant(opened.house, configuration.dataDirectory)
  const api = await startApi({ opened })
  const close = async () => {
    await api.close()
    await Promise.all(leaders.map((leader) => leader.close()))
    await webhooks.close()
    await opened.close()
  }
  return { port: api.port, credentials, opened, close }
}

function project({ postgres: { pool }, house: { store, log } }: Opened): Promise<Subscription> {
  return startProjector({ pool, store, models: readModels, deciders, dependents: financeViews, log })
}

function process({ postgres: { pool }, house }: Opened): Promise<Subscription> {
  return startProcesses({ house, pool, deciders, processes, timers: new PostgresTimers(pool) })
}

function relay({ postgres: { pool }, house: { store, log }, snapshots }: Opened, bus: EventBus): Promise<Subscription> {
  return startRelay({ pool, store, snapshots, bus, sources: publicSources, log })
}

function deliver({ postgres: { pool }, house, configuration }: Opened, bus: EventBus): Promise<Subscription> {
  return startWebhooks({
    ...house,
    bus,
    deliveries: new Deliveries(pool),
    replays: new Replays(pool),
    egress: guardedPools({ ...webhookCalls, allow: addressBlocks(configuration.egressAllow) }),
    addressOf: async (id) => {
      const state = await readState(house.store, merchant, id)
      return state.status === 'none' ? undefined : state.email
    },
  })
}
