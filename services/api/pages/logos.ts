import type { Express } from 'express'
import type { Images } from '../../../packages/kernel/image-ports.ts'
import { forEver } from './assets.ts'

/** Merchants' logos. Opened by itself, a picture still runs nothing. */
export function mountLogos(app: Express, { images }: { readonly images: Images }): void {
  app.get('/assets/logo-:hash.:type', async (request, response, next) => {
    const { hash, type } = request.params as { hash: string; type: string }
    const image = /^[0-9a-f]{64}$/.test(hash) ? await images.find(hash) : undefined
    if (!image || image.contentType !== `image/${type}`) return next()
    response.setHeader('Content-Type', image.contentType)
    response.setHeader('Content-Security-Policy', "default-src 'none'; sandbox")
    response.setHeader('Cache-Control', forEver)
    response.end(image.bytes)
  })
}
