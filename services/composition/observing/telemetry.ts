import type { Configuration } from '../../../infra/configuration.ts'
import type { Telemetry } from '../../../infra/telemetry/opentelemetry.ts'
import type { Health } from './health.ts'

/** Where traces and metrics go, if anywhere. */
export async function openTelemetry(
  { telemetryUrl, instance }: Configuration,
  { metrics }: Health,
  service: string,
): Promise<Partial<Telemetry>> {
  if (telemetryUrl === undefined) return {}
  // It takes a fifth of a second to load, so it is loaded only on demand.
  const { startTelemetry } = await import('../../../infra/telemetry/opentelemetry.ts')
  return startTelemetry({ service, instance, scrape: () => metrics.scrape() })
}
