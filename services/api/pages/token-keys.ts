import type { Express } from 'express'
import type { Dependencies } from '../../../packages/contract/routes.ts'

/** A new key is shown as soon as it signs; who has looked looks again when it meets one it does not know. */
const cacheControl = 'public, max-age=300'

/** The public keys that access tokens are signed with, for whoever wants to check one without asking. */
export function mountTokenKeys(app: Express, { tokens }: Dependencies): void {
  app.get('/.well-known/jwks.json', (_request, response, next) => {
    tokens.publicKeys().then((keys) => {
      response.setHeader('Cache-Control', cacheControl)
      response.setHeader('Access-Control-Allow-Origin', '*')
      response.json({ keys })
    }, next)
  })
}
