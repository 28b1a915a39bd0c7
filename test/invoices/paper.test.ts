import { inflateSync } from 'node:zlib'
import t from 'tap'
import { pdfOf } from '../../services/api/pages/receipt-pdf.ts'
import { lawOver } from '../support/law.ts'

/** Where a line of text begins, in points from the lower left corner of its page. */
interface Line {
  readonly x: number
  readonly y: number
}

const [margin, lineHeight] = [56, 11]

/** The lines of each page. The library writes one content stream a page, and one matrix a line. */
function pagesOf(pdf: Buffer): readonly (readonly Line[])[] {
  const text = pdf.toString('latin1')
  const streams = [...text.matchAll(/\/Filter \/FlateDecode\n>>\nstream\n([^]*?)\nendstream/g)]
  const contents = streams.map(([, body]) => inflateSync(Buffer.from(body!, 'latin1')).toString('latin1'))
  return contents
    .filter((content) => content.includes(' Tm'))
    .map((content) =>
      [...content.matchAll(/1 0 0 1 ([\d.-]+) ([\d.-]+) Tm/g)].map(([, x, y]) => ({
        x: Number(x),
        y: Number(y),
      })),
    )
}

const long = 'Réparation d’une lampe solaire avec son panneau et sa batterie, '.repeat(5).slice(0, 300)

t.test('however long an invoice is, nothing on paper is printed over another thing', async (t) => {
  const sums = Array.from({ length: 20 }, () => [long, '12 500 F CFA'] as const)
  const rows = [['Numéro', 'INV-000001'], ...sums, ['Objet', long], ['Total', '250 000 F CFA']] as const
  const receipt = {
    number: 'INV-000001',
    paid_at: '2026-01-01T00:00:00.000Z',
    merchant: { name: 'Sahel Énergie', logo_url: null, accent_color: null },
  }
  const pages = pagesOf(await pdfOf({ title: 'Facture', language: 'fr', receipt, rows }))
  t.ok(pages.length > 1)
  await lawOver(t, pages.entries(), async ([at, lines]) => {
    const [names, values] = [lines.filter(({ x }) => x === margin), lines.filter(({ x }) => x > margin)]
    for (const column of [names, values]) {
      const heights = column.map(({ y }) => y).toSorted((one, other) => other - one)
      const over = heights.filter((y, index) => index > 0 && heights[index - 1]! - y < lineHeight)
      t.strictSame(over, [], `page ${at + 1}: no line over another`)
      t.ok(heights.at(-1)! >= margin, `page ${at + 1}: above the margin`)
    }
  })
  const all = pages.flatMap((lines, page) => lines.map((line) => ({ ...line, page })))
  // Of equal width and at the right, they begin where only they do.
  const sumsAt = all
    .map(({ x }) => x)
    .find((x, _, others) => others.filter((one) => one === x).length === sums.length)
  const sumsShown = all.filter(({ x }) => x === sumsAt)
  const alone = sumsShown.filter(({ page, y }) => {
    return !all.some((line) => line.page === page && line.y === y && line.x === margin)
  })
  t.strictSame(alone, [], 'a sum is beside what it is for')
  t.equal(sumsShown.length, sums.length)
})
