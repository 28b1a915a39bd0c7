import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { Express, Request, Response } from 'express'
import { openapi } from '../../../packages/contract/openapi/openapi.ts'
import type { AnyRoute } from '../../../packages/contract/routes.ts'
import { idPrefixes, publicSources } from '../../../packages/domain/index.ts'
import { errorsPage } from './errors.ts'
import { redocBundle, referencePage } from './reference.ts'
import { sandboxPage } from './sandbox.ts'
import { startPage } from './start.ts'
import { icon, referenceStyle, style } from './style.ts'
import { webhooksPage } from './webhooks.ts'

const htmlType = 'text/html; charset=utf-8'
const cssType = 'text/css; charset=utf-8'

/** Only our own stylesheet and images: these pages have no scripts. */
const pagePolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'"

/**
 * Redoc writes styles into the page and searches in a worker created from a blob. All scripts are our own
 * files.
 */
const referencePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

interface Text {
  readonly type: string
  readonly policy: string
  /** Called on the first request. */
  readonly make: () => string
}

/** The documentation of the table, generated from the table. Everything is served by this process. */
export function mountDocs(app: Express, routes: readonly AnyRoute[], baseUrl: string): void {
  const page = (make: () => string): Text => ({ type: htmlType, policy: pagePolicy, make })
  const file = (type: string, make: () => string): Text => ({ type, policy: pagePolicy, make })
  const texts: Readonly<Record<string, Text>> = {
    '/': page(() => startPage(baseUrl)),
    '/docs': { type: htmlType, policy: referencePolicy, make: () => referencePage },
    '/docs/errors': page(() => errorsPage(routes)),
    '/docs/webhooks': page(webhooksPage),
    '/docs/sandbox': page(() => sandboxPage(baseUrl)),
    '/docs/assets/style.css': file(cssType, () => style),
    '/docs/assets/reference.css': file(cssType, () => referenceStyle),
    '/docs/assets/icon.svg': file('image/svg+xml', () => icon),
    '/docs/assets/redoc.js': file('text/javascript; charset=utf-8', redocBundle),
    '/openapi.json': file('application/json; charset=utf-8', () =>
      JSON.stringify(openapi(routes, { baseUrl, idPrefixes, publicSources })),
    ),
  }
  for (const [path, text] of Object.entries(texts)) app.get(path, serving(text))
}

interface Packed {
  readonly plain: Buffer
  readonly zipped: Buffer
  readonly tag: string
}

/** Rendered once, then served from memory, compressed where accepted; a matching ETag gets no body. */
function serving({ type, policy, make }: Text) {
  let packed: Packed | undefined
  return (request: Request, response: Response) => {
    const { plain, zipped, tag } = (packed ??= pack(make()))
    const takesZipped = request.acceptsEncodings('gzip') === 'gzip'
    response.setHeader('Content-Type', type)
    response.setHeader('Content-Security-Policy', policy)
    response.setHeader('Cache-Control', 'no-cache')
    response.setHeader('Vary', 'Accept-Encoding')
    response.setHeader('ETag', tag)
    if (request.fresh) return void response.status(304).end()
    if (takesZipped) response.setHeader('Content-Encoding', 'gzip')
    response.end(takesZipped ? zipped : plain)
  }
}

function pack(text: string): Packed {
  const plain = Buffer.from(text)
  return {
    plain,
    zipped: gzipSync(plain),
    tag: `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
  }
}
