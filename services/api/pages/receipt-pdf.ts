import { createRequire } from 'node:module'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { lateModule } from '../../../infra/os/late-module.ts'
import type { ReceiptView } from '../../../packages/domain/checkout/resource.ts'
import { laidOut, widthOfText } from './paper-text.ts'

export interface Printed {
  readonly title: string
  readonly language: string
  readonly receipt: Pick<ReceiptView, 'number' | 'paid_at' | 'merchant'>
  readonly rows: readonly (readonly [name: string, value: string])[]
}

// Loaded with the first receipt.
const pdfkit = lateModule<typeof import('pdfkit')>('pdfkit')

const margin = 56
const [valueWidthMost, columnGap, rowGap] = [160, 12, 6]

/**
 * The receipt on paper. The same receipt is always the same bytes: its dates are those of the payment. The
 * font comes with the file, because readers' own may lack accents.
 */
export async function pdfOf({ title, language, receipt, rows }: Printed): Promise<Buffer> {
  const Document = pdfkit()
  const fontOf = (name: string) => createRequire(import.meta.url).resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`)
  const paidAt = new Date(receipt.paid_at)
  const pdf = new Document({
    size: 'A5',
    margin,
    lang: language,
    info: { Title: `${title} ${receipt.number}`, CreationDate: paidAt, ModDate: paidAt },
  })
  const chunks: Buffer[] = []
  pdf.on('data', (chunk: Buffer) => chunks.push(chunk))
  pdf.registerFont('plain', fontOf('DejaVuSans')).registerFont('bold', fontOf('DejaVuSans-Bold'))
  const width = pdf.page.width - 2 * margin
  laidOut(pdf.font('bold').fontSize(18), receipt.merchant.name, width).draw({ x: margin, y: margin })
  laidOut(pdf.font('plain').fontSize(12).fillColor('#4b5a55'), title, width).draw({ x: margin, y: pdf.y })
  pdf.moveDown(1.5)
  pdf.fontSize(10)
  for (const row of rows) {
    drawRow(pdf, row)
    // A row of Arabic takes up to 40 ms, and an invoice has many.
    await nextTurn()
  }
  const ended = new Promise<void>((resolve, reject) => pdf.once('end', resolve).once('error', reject))
  pdf.end()
  await ended
  return Buffer.concat(chunks)
}

/** A name and its value stay together: a row begins a new page where it does not fit on this one. */
function drawRow(pdf: PDFKit.PDFDocument, [name, value]: readonly [string, string]): void {
  // What a short value leaves free is for a long name.
  const width = Math.min(Math.ceil(widthOfText(pdf, value)) + 1, valueWidthMost)
  const left = pdf.page.width - margin - width
  const labelWidth = left - columnGap - margin
  const [label, laid] = [laidOut(pdf, name, labelWidth), laidOut(pdf, value, width)]
  const rowHeight = Math.max(label.height, laid.height)
  if (pdf.y + rowHeight > pdf.page.height - margin) pdf.addPage()
  const { y } = pdf
  pdf.fillColor('#4b5a55')
  label.draw({ x: margin, y })
  pdf.fillColor('#14211d')
  laid.draw({ x: left, y, align: 'right' })
  pdf.y = y + rowHeight + rowGap
}
