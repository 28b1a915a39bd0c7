import type { Express } from 'express'
import type { Health } from '../../composition/health.ts'

/** What this process says of itself, on the port that it serves. */
export function mountHealth(app: Express, health: Health): void {
  for (const [path, ask] of Object.entries(health.answers)) {
    app.get(path, async (_request, response) => {
      const { status, contentType, body } = await ask()
      response.status(status).setHeader('Content-Type', contentType).end(body)
    })
  }
}
