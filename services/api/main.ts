import { createServer, type RequestListener, type Server } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { Express } from 'express'
import type { AnyRoute } from '../../packages/contract/routes.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { listen } from '../composition/listen.ts'
import { Authentication } from './http/authenticate.ts'
import { mountDocs } from './docs/docs.ts'
import type { Api } from './http/handle.ts'
import { mountHealth } from './http/health.ts'
import { messageClasses, mount, mountEnd } from './http/mount.ts'
import { rateLimits } from './http/rate-limit.ts'
import { closingQueuedResponses } from './http/queued-responses.ts'
import { routes } from './routes/index.ts'
import { Overload } from './http/overload.ts'
import { mountSandboxPayer } from './pages/sandbox-payer.ts'
import { traced } from './http/trace.ts'
import { LastWrites } from './kinds/writes.ts'

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
  readonly runtime: Runtime
  readonly table?: readonly AnyRoute[]
  readonly bodyArrivalMs?: number
}

/** Serves the table of endpoints, its documentation and the health of this process. */
export async function startApi({
  runtime,
  table = routes,
  bodyArrivalMs = 10_000,
}: ApiOptions): Promise<RunningApi> {
  const { dependencies, configuration, health } = runtime
  const authentication = new Authentication({
    store: dependencies.store,
    clock: dependencies.clock,
    head: await dependencies.store.head(),
  })
  const api: Api = {
    dependencies,
    authentication,
    rateLimit: rateLimits(configuration.rateLimit),
    requireEnvironmentHeader: configuration.requireEnvironmentHeader,
    writes: new LastWrites(),
    bodyArrivalMs,
  }
  const app = mount(api, table, health.metrics)
  mountHealth(app, health)
  mountDocs(app, table, dependencies.baseUrl)
  mountSandboxPayer(app, dependencies)
  mountEnd(app, api)
  const overload = new Overload({
    inFlightMax: configuration.requestsInFlightMax,
    metrics: health.metrics,
    spared: new Set(Object.keys(health.answers)),
  })
  const listener = closingQueuedResponses(overload.guard(traced(app, dependencies.tracing)))
  const server = serverOf(app, listener)
  const { port, ...listening } = await listen(server, configuration.port, 'PORT')
  const close = async () => {
    health.stop()
    await pause(configuration.drainSeconds * 1_000)
    await listening.close()
    overload.close()
    await authentication.close()
  }
  return { port, close }
}

function serverOf(app: Express, listener: RequestListener): Server {
  const server = createServer({ ...messageClasses(app), keepAliveTimeout: keepAliveTimeoutMs }, listener)
  server.headersTimeout = headersTimeoutMs
  server.requestTimeout = requestTimeoutMs
  server.maxConnections = connectionsMax
  return server
}
