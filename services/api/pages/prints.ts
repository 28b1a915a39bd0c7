import { createRequire } from 'node:module'
import type { Express, Request, Response } from 'express'
import { identity } from '../../../packages/contract/identity.ts'
import { refuse } from '../../../packages/contract/refusals.ts'
import { idOfSlug, slugOf } from '../../../packages/domain/payment-links/payment-link.ts'
import { checkoutReceipt, ownerOfSession } from '../actions/checkout.ts'
import { sessionOf } from '../actions/checkout-sessions.ts'
import { ownerOfLink } from '../actions/payment-links.ts'
import { hostedInvoice, ownerOfInvoice } from '../actions/hosted-invoice.ts'
import type { Api } from '../http/handle.ts'
import { receiptRows } from './checkout.ts'
import { invoiceRows } from './invoice.ts'
import { invoiceWords } from './invoice-words.ts'
import { readerOf, type Reader } from './layout.ts'
import { pdfOf } from './receipt-pdf.ts'

type Printing = Pick<Api, 'dependencies' | 'addressOf' | 'rateLimits'>

/** Drawing a page on paper takes the processor 50 ms. */
const pageWeight = 10

/** What is made to be kept or printed: receipts and QR codes. */
export function mountPrints(app: Express, api: Printing): void {
  app.get('/checkout/session/:sessionId/receipt.pdf', async (request, response) => {
    const text = request.params['sessionId'] as string
    const sessionId = identity(text, 'cs') ?? refuse('checkout_session_must_exist')
    const asked = { params: { sessionId }, dependencies: api.dependencies }
    const visited = { ...asked, owner: await ownerOfSession(asked) }
    const { addressOf, rateLimits } = api
    await rateLimits.count({ costly: addressOf(request), weight: pageWeight }, response)
    await rateLimits.count({ account: visited.owner }, response)
    const receipt = await checkoutReceipt(visited)
    const { country } = await sessionOf(visited, sessionId)
    const reader = reading(request)
    const rows = receiptRows(reader, receipt, country)
    const file = await pdfOf({ title: reader.words.receipt, language: reader.language, receipt, rows })
    response.setHeader('Content-Type', 'application/pdf')
    response.setHeader('Content-Disposition', `inline; filename="receipt-${receipt.number}.pdf"`)
    response.end(file)
  })

  app.get('/pay/:slug/qr.svg', async (request, response) => {
    await sendCode(request, response, api)
  })

  app.get('/invoice/:token/invoice.pdf', async (request, response) => {
    response.locals['loggedPath'] = '/invoice/{token}/invoice.pdf'
    await sendInvoice(request, response, api)
  })
}

/** Its dates are those of the invoice: as long as nothing is paid, the same bytes every time. */
async function sendInvoice(request: Request, response: Response, api: Printing): Promise<void> {
  const { dependencies, addressOf, rateLimits } = api
  const asked = { params: { token: request.params['token'] as string }, dependencies }
  const visited = { ...asked, owner: await ownerOfInvoice(asked) }
  await rateLimits.count({ costly: addressOf(request), weight: pageWeight }, response)
  await rateLimits.count({ account: visited.owner }, response)
  const view = await hostedInvoice(visited)
  const reader = reading(request)
  const number = view.number ?? ''
  const printed = { number, paid_at: `${view.issued_on}T00:00:00.000Z`, merchant: view.merchant }
  const title = invoiceWords[reader.language].invoice
  const { language } = reader
  const file = await pdfOf({ title, language, receipt: printed, rows: invoiceRows(reader, view) })
  response.setHeader('Content-Type', 'application/pdf')
  response.setHeader('Content-Disposition', `inline; filename="${number || 'invoice'}.pdf"`)
  response.end(file)
}

function reading(request: Request): Reader {
  const language = (offered: readonly string[]) => request.acceptsLanguages([...offered]) || undefined
  return readerOf({ query: request.query, path: request.path, language })
}

async function sendCode(request: Request, response: Response, api: Printing): Promise<void> {
  const { dependencies, rateLimits } = api
  const slug = request.params['slug'] as string
  const account = await ownerOfLink({ params: { slug }, dependencies })
  await rateLimits.count({ account }, response)
  const address = `${dependencies.baseUrl}/pay/${slugOf(idOfSlug(slug)!)}`
  const { toString } = createRequire(import.meta.url)('qrcode') as typeof import('qrcode')
  response.setHeader('Content-Type', 'image/svg+xml')
  // Shops put it into their own pages.
  response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin')
  response.end(await toString(address, { type: 'svg', margin: 2 }))
}
