import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Opened } from '../composition/house.ts'
import { listParked } from '../../infra/postgres/parked.ts'
import type { AnyRoute } from '../../packages/contract/routes.ts'
import { Authentication } from './authenticate.ts'
import type { Api } from './handle.ts'
import { mountHealth } from './health.ts'
import { Metrics } from './metrics.ts'
import { messageClasses, mount, mountEnd } from './mount.ts'
import { rateLimits } from './rate-limit.ts'
import { routes } from './routes/index.ts'
import { LastWrites } from './writes.ts'

/** Slow clients are cut off: headers in 10 s, the whole request in 15 s. */
const headersTimeoutMs = 10_000
const requestTimeoutMs = 15_000
const keepAliveTimeoutMs = 65_000
const connectionsMax = 10_000

export interface RunningApi {
  readonly port: number
  /** Stops accepting, answers what is in flight, then ends. */
  close(): Promise<void>
}

export interface ApiOptions {
  readonly opened: Opened
  readonly table?: readonly AnyRoute[]
}

/** Serves the table of endpoints, its documentation and the health of this process. */
export async function startApi({ opened, table = routes }: ApiOptions): Promise<RunningApi> {
  const { house, configuration } = opened
  const authentication = new Authentication({ store: house.store, clock: house.clock, head: await house.store.head() })
  const api: Api = {
    house,
    authentication,
    rateLimit: rateLimits(configuration.rateLimit),
    requireEnvironmentHeader: configuration.requireEnvironmentHeader,
    writes: new LastWrites(),
  }
  const metrics = new Metrics()
  let stopping = false
  const app = mount(api, table, metrics)
  mountHealth(app, { ...healthOf(opened), metrics, stopping: () => stopping })
  mountEnd(app, api)
  const server = createServer({ ...messageClasses(app), keepAliveTimeout: keepAliveTimeoutMs }, app)
  server.headersTimeout = headersTimeoutMs
  server.requestTimeout = requestTimeoutMs
  server.maxConnections = connectionsMax
  const port = await listen(server, configuration.port)
  const close = async () => {
    stopping = true
    await closeServer(server)
    await authentication.close()
  }
  return { port, close }
}

function healthOf({ house, postgres }: Opened) {
  return {
    dependencies: [
      { name: 'event_store', ping: () => house.store.ping() },
      { name: 'postgres', ping: () => postgres.pool.query('select 1') },
    ],
    facts: async () => {
      const parked = await listParked(postgres.pool)
      return {
        position: { log: await house.store.head(), read_models: await house.reads.position() },
        parked: parked.map(({ consumer, stream, type, error }) => ({ consumer, stream, type, error })),
      }
    },
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, () => resolve((server.address() as AddressInfo).port))
  })
}

/** Requests in flight are answered; connections that only wait are closed. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })
}
