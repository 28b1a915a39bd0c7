import type { Express, Request, Response } from 'express'
import { lateModule } from '../../../infra/os/late-module.ts'
import { identity } from '../../../packages/contract/identity.ts'
import { refuse } from '../../../packages/contract/refusals.ts'
import { idOfSlug, slugOf } from '../../../packages/domain/payment-links/payment-link.ts'
import type { Owner } from '../../../packages/kernel/owner.ts'
import { checkoutReceipt, ownerOfSession } from '../actions/hosted/checkout.ts'
import { sessionOf } from '../actions/checkout-sessions.ts'
import { ownerOfLink } from '../actions/payment-links.ts'
import { hostedInvoice, ownerOfInvoice } from '../actions/hosted/hosted-invoice.ts'
import { customerOfPortal } from '../actions/hosted/hosted-portal.ts'
import type { HostedReceiptView } from '../actions/hosted/hosted-receipts.ts'
import { hostedTopup } from '../actions/hosted/hosted-topup.ts'
import type { Api } from '../http/handle.ts'
import { receiptRows } from './checkout.ts'
import { invoiceReceiptRows, invoiceRows } from './invoice.ts'
import { invoiceWords } from './invoice-words.ts'
import { readerOf, type Reader } from './layout.ts'
import { pdfOf, type Printed } from './receipt-pdf.ts'
import type { Rows } from './receipts.ts'
import { topupReceiptRows } from './topup.ts'

const qrcode = lateModule<typeof import('qrcode')>('qrcode')

type Printing = Pick<Api, 'dependencies' | 'addressOf' | 'rateLimits'>

interface Asked {
  readonly request: Request
  readonly response: Response
}

/** Drawing a page on paper takes the processor 50 ms. */
const pageWeight = 10

/** What is made to be kept or printed: invoices, receipts and QR codes. */
export function mountPrints(app: Express, api: Printing): void {
  app.get('/checkout/session/:sessionId/receipt.pdf', async (request, response) => {
    await sendCheckoutReceipt({ request, response }, api)
  })

  app.get('/invoice/:token/invoice.pdf', async (request, response) => {
    await sendInvoice({ request, response }, api)
  })

  app.get('/invoice/:token/receipt.pdf', async (request, response) => {
    const asked = invoiceIn(request, api)
    const visited = { ...asked, owner: await ownerOfInvoice(asked) }
    await countPrint({ request, response }, visited.owner, api)
    const view = await hostedInvoice(visited)
    const reader = reading(request)
    await sendReceipt(response, { reader, view, rows: invoiceReceiptRows(reader, view) })
  })

  app.get('/portal/:token/topups/:id/receipt.pdf', async (request, response) => {
    const { token, id: text } = request.params as { token: string; id: string }
    const id = identity(text, 'wt') ?? refuse('resource_must_exist')
    const asked = { params: { token, id }, dependencies: api.dependencies }
    const visited = { ...asked, owner: await customerOfPortal(asked) }
    await countPrint({ request, response }, visited.owner, api)
    const view = await hostedTopup(visited)
    const reader = reading(request)
    await sendReceipt(response, { reader, view, rows: topupReceiptRows(reader, view) })
  })

  app.get('/pay/:slug/qr.svg', async (request, response) => {
    await sendCode(request, response, api)
  })
}

async function sendCheckoutReceipt({ request, response }: Asked, api: Printing): Promise<void> {
  const text = request.params['sessionId'] as string
  const sessionId = identity(text, 'cs') ?? refuse('checkout_session_must_exist')
  const asked = { params: { sessionId }, dependencies: api.dependencies }
  const visited = { ...asked, owner: await ownerOfSession(asked) }
  await countPrint({ request, response }, visited.owner, api)
  const receipt = await checkoutReceipt(visited)
  const { country } = await sessionOf(visited, sessionId)
  const reader = reading(request)
  const { language, words } = reader
  const rows = receiptRows(reader, receipt, country)
  const name = `receipt-${receipt.number}`
  await sendPdf(response, name, { title: words.receipt, language, receipt, rows })
}

/** Its dates are those of the invoice: as long as nothing is paid, the same bytes every time. */
async function sendInvoice({ request, response }: Asked, api: Printing): Promise<void> {
  const asked = invoiceIn(request, api)
  const visited = { ...asked, owner: await ownerOfInvoice(asked) }
  await countPrint({ request, response }, visited.owner, api)
  const view = await hostedInvoice(visited)
  const reader = reading(request)
  const number = view.number ?? ''
  const receipt = { number, paid_at: `${view.issued_on}T00:00:00.000Z`, merchant: view.merchant }
  const { language } = reader
  const title = invoiceWords[language].invoice
  await sendPdf(response, number || 'invoice', { title, language, receipt, rows: invoiceRows(reader, view) })
}

function invoiceIn(request: Request, { dependencies }: Printing) {
  return { params: { token: request.params['token'] as string }, dependencies }
}

interface Receipt {
  readonly reader: Reader
  readonly view: Pick<Printed['receipt'], 'merchant'> & { readonly receipt: HostedReceiptView | null }
  readonly rows: Rows
}

/** Its dates are those of the payments: the same bytes every time. */
async function sendReceipt(response: Response, { reader, view, rows }: Receipt): Promise<void> {
  const { receipt: paid, merchant } = view
  if (!paid) return refuse('resource_must_exist', { detail: 'There is no receipt before it is paid' })
  const { language, words } = reader
  const receipt = { ...paid, merchant }
  await sendPdf(response, `receipt-${paid.number}`, { title: words.receipt, language, receipt, rows })
}

async function countPrint({ request, response }: Asked, account: Owner, api: Printing): Promise<void> {
  const { addressOf, rateLimits } = api
  await rateLimits.count({ costly: addressOf(request), weight: pageWeight }, response)
  await rateLimits.count({ account }, response)
}

async function sendPdf(response: Response, name: string, printed: Printed): Promise<void> {
  const file = await pdfOf(printed)
  response.setHeader('Content-Type', 'application/pdf')
  response.setHeader('Content-Disposition', `inline; filename="${name}.pdf"`)
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
  const { toString } = qrcode()
  response.setHeader('Content-Type', 'image/svg+xml')
  // Shops put it into their own pages.
  response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin')
  response.end(await toString(address, { type: 'svg', margin: 2 }))
}
