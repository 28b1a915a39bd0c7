import type { Express } from 'express'
import type { Dependencies } from '../../../packages/contract/routes.ts'
import { isLogo } from '../actions/organizations/logos.ts'

/** What a merchant has taken away is in no browser the day after. */
const forADay = 'public, max-age=86400, immutable'

/** Merchants' logos. Opened by itself, a picture still runs nothing. */
export function mountLogos(app: Express, dependencies: Pick<Dependencies, 'images' | 'store'>): void {
  const { images } = dependencies
  app.get('/assets/logo-:hash.:type', async (request, response, next) => {
    const { hash, type } = request.params as { hash: string; type: string }
    const isShown = /^[0-9a-f]{64}$/.test(hash) && (await isLogo(dependencies, hash))
    const image = isShown ? await images.find(hash) : undefined
    if (!image || image.contentType !== `image/${type}`) return next()
    response.setHeader('Content-Type', image.contentType)
    response.setHeader('Content-Security-Policy', "default-src 'none'; sandbox")
    response.setHeader('Cache-Control', forADay)
    response.end(image.bytes)
  })
}
