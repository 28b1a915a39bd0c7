import type { Configuration } from '../../infra/configuration.ts'
import type { Telemetry } from '../../infra/telemetry/opentelemetry.ts'
import type { Health } from './health.ts'

/** Who listens to traces and metrics, if anybody does. */
export async function openTelemetry(
  { telemetryUrl, instance }: Configuration,
  { metrics }: Health,
  service: string,
): Promise<Partial<Telemetry>> {
  if (telemetryUrl === undefined) return {}
  // It takes a fifth of a second to load, so only who wants it waits for it.
  const { startTelemetry } = await import('../../infra/telemetry/opentelemetry.ts')
  return startTelemetry({ service, instance, scrape: () => metrics.scrape() })
}
