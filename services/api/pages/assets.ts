import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { Express } from 'express'
import { icon } from '../docs/style.ts'
import { brandStyle } from './colors.ts'
import { script } from './script.ts'
import { style } from './style.ts'

interface Asset {
  /** It names the contents, so that browsers may keep it for ever. */
  readonly path: string
  readonly type: string
  readonly text: string
}

export const assets = {
  style: asset('css', 'text/css; charset=utf-8', style),
  script: asset('js', 'text/javascript; charset=utf-8', script),
  icon: asset('svg', 'image/svg+xml', icon),
}

function asset(kind: string, type: string, text: string): Asset {
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 12)
  return { path: `/assets/page-${hash}.${kind}`, type, text }
}

/** Only this color's, so that it is kept for ever, too. */
export function brandPath(color: string): string {
  return `/assets/brand-${color.slice(1)}.css`
}

export const forEver = 'public, max-age=31536000, immutable'

export function mountAssets(app: Express): void {
  for (const { path, type, text } of Object.values(assets)) {
    const plain = Buffer.from(text)
    const zipped = gzipSync(plain)
    app.get(path, (request, response) => {
      const takesZipped = request.acceptsEncodings('gzip') === 'gzip'
      response.setHeader('Content-Type', type)
      response.setHeader('Cache-Control', forEver)
      response.setHeader('Vary', 'Accept-Encoding')
      if (takesZipped) response.setHeader('Content-Encoding', 'gzip')
      response.end(takesZipped ? zipped : plain)
    })
  }
  app.get('/assets/brand-:color.css', (request, response, next) => {
    const color = request.params['color'] as string
    if (!/^[0-9a-f]{6}$/.test(color)) return next()
    response.setHeader('Content-Type', assets.style.type)
    response.setHeader('Cache-Control', forEver)
    response.end(brandStyle(`#${color}`))
  })
}
