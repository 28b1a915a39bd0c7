import { createRequire } from 'node:module'
import type { ReceiptView } from '../../../packages/domain/checkout/resource.ts'

interface Printed {
  readonly title: string
  readonly language: string
  readonly receipt: Pick<ReceiptView, 'number' | 'paid_at' | 'merchant'>
  readonly rows: readonly (readonly [name: string, value: string])[]
}

const margin = 56
const [labelWidth, lineGap] = [170, 14]

/**
 * The receipt on paper. The same receipt is always the same bytes: its dates are those of the payment. The
 * font comes with the file, because readers' own may lack accents.
 */
export async function pdfOf({ title, language, receipt, rows }: Printed): Promise<Buffer> {
  const { default: Document } = await import('pdfkit')
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
  const ended = new Promise<void>((resolve, reject) => pdf.once('end', resolve).once('error', reject))
  pdf.registerFont('plain', fontOf('DejaVuSans')).registerFont('bold', fontOf('DejaVuSans-Bold'))
  pdf.font('bold').fontSize(18).text(receipt.merchant.name)
  pdf.font('plain').fontSize(12).fillColor('#4b5a55').text(title).moveDown(1.5)
  for (const [name, value] of rows) {
    const y = pdf.y
    pdf.fontSize(10).fillColor('#4b5a55').text(name, margin, y, { width: labelWidth })
    const left = margin + labelWidth
    pdf.fillColor('#14211d').text(value, left, y, { width: pdf.page.width - left - margin, align: 'right' })
    pdf.y += lineGap
  }
  pdf.end()
  await ended
  return Buffer.concat(chunks)
}
