import type { Express, Response } from 'express'
import type { Metrics } from './metrics.ts'

/** Something that this service cannot work without. */
export interface Dependency {
  readonly name: string
  /** Throws when it cannot be reached. */
  readonly ping: () => Promise<unknown>
}

const pingTimeoutMs = 2_000

export interface HealthOptions {
  readonly dependencies: readonly Dependency[]
  readonly metrics: Metrics
  /** Facts shown beside the dependencies: parked streams, positions. */
  readonly facts: () => Promise<Readonly<Record<string, unknown>>>
  readonly stopping: () => boolean
}

/** `/healthz`: the process lives. `/readyz`: it can take requests, each dependency by name. `/metrics`: Prometheus. */
export function mountHealth(app: Express, { dependencies, metrics, facts, stopping }: HealthOptions): void {
  app.get('/healthz', (_request, response) => void response.json({ status: 'ok' }))

  app.get('/readyz', async (_request, response: Response) => {
    const checks = await Promise.all(dependencies.map(check))
    const ready = !stopping() && checks.every(({ status }) => status === 'up')
    const known = ready ? await facts().catch((error: unknown) => ({ facts: String(error) })) : {}
    response.status(ready ? 200 : 503).json({
      status: stopping() ? 'stopping' : ready ? 'ready' : 'not ready',
      dependencies: Object.fromEntries(checks.map(({ name, ...result }) => [name, result])),
      ...known,
    })
  })

  app.get('/metrics', async (_request, response) => {
    response.setHeader('Content-Type', metrics.registry.contentType)
    response.end(await metrics.registry.metrics())
  })
}

async function check({ name, ping }: Dependency) {
  const timeout = new Promise<never>((_, reject) => setTimeout(() => reject(new Error('no answer in time')), pingTimeoutMs).unref())
  try {
    await Promise.race([ping(), timeout])
    return { name, status: 'up' as const }
  } catch (error) {
    return { name, status: 'down' as const, reason: (error as Error).message }
  }
}
