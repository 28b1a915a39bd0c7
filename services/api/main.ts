import { setTimeout as pause } from 'node:timers/promises'
import type { RequestHandler } from 'express'
import type { Challenges } from '../../packages/contract/access/callers.ts'
import type { AnyRoute } from '../../packages/contract/routes.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { listen } from '../composition/listen.ts'
import { openAuthenticators } from './authenticators.ts'
import type { Authenticator } from './http/credentials/credentials.ts'
import { mountDocs } from './docs/docs.ts'
import type { Api } from './http/handle.ts'
import { mountLog } from './log/log.ts'
import { mountTokenKeys } from './pages/token-keys.ts'
import { clientAddress, clientCountry } from './http/client-address.ts'
import { mountHealth } from './http/health.ts'
import { mount, mountEnd } from './http/mount.ts'
import { rateLimits, type requestsPerSecond } from './http/rate-limit.ts'
import { serverOf, defaultClientTimeouts, type ClientTimeouts } from './http/server.ts'
import { routes } from '../families.ts'
import { Overload } from './http/overload.ts'
import { mountAssets } from './pages/assets.ts'
import { mountLogos } from './pages/logos.ts'
import { mountPrints } from './pages/prints.ts'
import { mountSandboxPayer } from './pages/sandbox-payer.ts'
import { stepUps } from './http/credentials/step-up.ts'
import { traced } from './http/trace.ts'
import { LastWrites } from './kinds/writes.ts'

export interface RunningApi {
  readonly port: number
  /** Stops accepting, finishes requests in flight, then ends. */
  close(): Promise<void>
}

export interface ApiOptions {
  readonly runtime: Runtime
  readonly table?: readonly AnyRoute[]
  readonly bodyArrivalMs?: number
  /** Checks in addition to this service's own. */
  readonly authenticators?: readonly Authenticator[]
  readonly challenges?: Challenges
  readonly clientTimeouts?: ClientTimeouts
  readonly perSecond?: typeof requestsPerSecond
}

/** Serves the table of endpoints, its documentation and this process's health. */
export async function startApi({
  runtime,
  table = routes,
  bodyArrivalMs = 10_000,
  clientTimeouts = defaultClientTimeouts,
  ...identifying
}: ApiOptions): Promise<RunningApi> {
  const { dependencies, configuration, health } = runtime
  const { baseUrl } = dependencies
  const api = await openApi(runtime, { bodyArrivalMs, ...identifying })
  const app = mount(api, table, health.metrics)
  mountHealth(app, health.publicAnswers)
  app.use(pagesForStrangers, limitedByAddress(api))
  mountLog(app, runtime.postgres.pool)
  mountTokenKeys(app, dependencies)
  mountDocs(app, table, baseUrl)
  mountAssets(app)
  mountLogos(app, dependencies)
  mountPrints(app, api)
  mountSandboxPayer(app, dependencies)
  mountEnd(app, api)
  const overload = new Overload({
    baseUrl,
    inFlightMax: configuration.requestsInFlightMax,
    metrics: health.metrics,
    spared: new Set(Object.keys(health.publicAnswers)),
  })
  const listener = overload.guard(traced(app, dependencies.tracing))
  const server = serverOf({ app, listener, clientTimeouts, baseUrl })
  const { port, ...listening } = await listen(server, configuration.port, 'PORT')
  const close = async () => {
    health.stop()
    await pause(configuration.drainSeconds * 1_000)
    await listening.close()
    overload.close()
    for (const authenticator of api.authenticators) await authenticator.close?.()
  }
  return { port, close }
}

/** They read Postgres for anybody who asks, as public rows do. */
const pagesForStrangers = [
  '/log',
  '/sandbox/pay',
  '/checkout',
  '/pay',
  '/invoice',
  '/portal',
  /^\/assets\/logo-.*/,
]

function limitedByAddress({ addressOf, rateLimits }: Api): RequestHandler {
  return async (request, response, next) => {
    await rateLimits.count({ address: addressOf(request) }, response)
    next()
  }
}

type OpenOptions = Pick<ApiOptions, 'authenticators' | 'challenges' | 'perSecond'> & {
  readonly bodyArrivalMs: number
}

async function openApi({ dependencies, configuration }: Runtime, options: OpenOptions): Promise<Api> {
  const { bodyArrivalMs, authenticators = [], challenges = stepUps(dependencies), perSecond } = options
  await dependencies.movedClocks.follow()
  return {
    dependencies,
    authenticators: [...(await openAuthenticators(dependencies)), ...authenticators],
    challenges,
    addressOf: clientAddress(configuration.trustedProxies),
    countryOf: clientCountry(configuration),
    rateLimits: rateLimits(configuration.rateLimit, perSecond),
    requireEnvironmentHeader: configuration.requireEnvironmentHeader,
    writes: new LastWrites(),
    bodyArrivalMs,
  }
}
