import type { Configuration } from '../../infra/configuration.ts'
import { startApi } from '../api/main.ts'
import { openBus } from '../composition/bus.ts'
import type { Credentials } from '../composition/credentials.ts'
import { firstMerchant } from '../composition/first-merchant.ts'
import { openRuntime, type RuntimeOptions, type Runtime } from '../composition/dependencies.ts'
import { serveHealth } from '../composition/listen.ts'
import { closeInTurn, orClose, part } from '../composition/closing.ts'
import { runAuditor, type AuditorOptions } from '../notary/auditor.ts'
import { runNotary } from '../notary/service.ts'
import { runProcesses } from '../processes/runner/service.ts'
import { runProjector } from '../projector/service.ts'
import { runRelay } from '../relay/service.ts'
import { runWebhooks } from '../webhooks/service.ts'

export interface RunningService {
  readonly port: number
  readonly healthPort: number
  readonly credentials: Credentials
  readonly runtime: Runtime
  /** Finishes requests in flight, then stops everything in the order in which work flows. */
  close(): Promise<void>
}

export interface ServiceOptions extends RuntimeOptions {
  readonly auditor?: Partial<AuditorOptions>
}

/** The whole service in one process. */
export async function startService(
  configuration: Configuration,
  options: ServiceOptions = {},
): Promise<RunningService> {
  const runtime = await openRuntime(configuration, { ...options, usesBus: true })
  const [bus, webhooks] = await orClose(runtime, async () => {
    const inProcess = await openBus(runtime, { isShared: false })
    // Consumers start before anything is published: the in-process bus stores nothing.
    return [inProcess, await runWebhooks(runtime, inProcess)] as const
  })
  const leaders = [
    part('projector', runProjector(runtime)),
    part('processes', runProcesses(runtime)),
    part('relay', runRelay(runtime, bus)),
    part('notary', runNotary(runtime)),
    part('auditor', runAuditor(runtime, options.auditor)),
  ]
  const behind = { close: () => closeInTurn(leaders, part('webhooks', webhooks), part('bus', bus), runtime) }
  return orClose(behind, async () => {
    const credentials = await firstMerchant(runtime, configuration.dataDirectory, options.ending)
    const health = await serveHealth(runtime.health, configuration.healthPort)
    return orClose(health, async () => {
      const api = await startApi({ runtime })
      const close = () => closeInTurn(part('api', api), health, behind)
      return { port: api.port, healthPort: health.port, credentials, runtime, close }
    })
  })
}
