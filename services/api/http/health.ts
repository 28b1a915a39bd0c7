import type { Express } from 'express'
import type { HealthAnswers } from '../../composition/observing/health.ts'

/** What this process says about itself to anyone. */
export function mountHealth(app: Express, answers: HealthAnswers): void {
  for (const [path, ask] of Object.entries(answers)) {
    app.get(path, async (_request, response) => {
      const { status, contentType, body } = await ask()
      response.status(status).setHeader('Content-Type', contentType).end(body)
    })
  }
}
