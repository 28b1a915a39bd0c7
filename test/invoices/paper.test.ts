import { inflateSync } from 'node:zlib'
import t from 'tap'
import { isolated } from '../../packages/contract/locale/direction.ts'
import { pdfOf } from '../../services/api/pages/receipt-pdf.ts'
import { lawOver } from '../support/law.ts'
import { printedIn } from '../support/pages/paper.ts'

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

const paper = (rows: readonly (readonly [string, string])[], name = 'Sahel Énergie') => {
  const merchant = { name, logo_url: null, accent_color: null }
  const receipt = { number: 'INV-000001', paid_at: '2026-01-01T00:00:00.000Z', merchant }
  return pdfOf({ title: 'Facture', language: 'fr', receipt, rows })
}
/** What stands on each line, the title without, as it is seen from left to right. */
async function linesOn(pdf: Promise<Buffer>): Promise<readonly string[]> {
  const lines = new Map<number, string>()
  for (const { y, text } of printedIn(await pdf)) lines.set(y, (lines.get(y) ?? '') + text)
  return [...lines.values()]
}
const turned = (text: string) => [...text].toReversed().join('')

t.test('Arabic and Hebrew stand on paper in their order, and numbers in them in theirs', async (t) => {
  const [shop, wares, greeting] = ['متجر النور والقمر', 'قهوة وشاي', 'שלום עולם']
  const rows = [
    ['Objet', `${wares} 250`],
    [greeting, '5 000 F CFA'],
  ] as const
  const lines = await linesOn(paper(rows, `${shop} (CI) 24`))
  t.strictSame(lines, [
    `24 (CI) ${turned(shop)}`,
    'Facture',
    `Objet250 ${turned(wares)}`,
    `${turned(greeting)}5 000 F CFA`,
  ])
})

t.test('however a thing is called, its number stands behind it on paper as on the page', async (t) => {
  await lawOver(t, ['قهوة', 'Lampe 500\u200f', 'Lampe א 500', 'ש 500'], async (what) => {
    const [line] = (await linesOn(paper([[`${isolated(what)} × 3`, '1 000 F CFA']]))).slice(-1)
    t.match(line, / × 31 000 F CFA$/, what)
  })
})

t.test('the digits of each script stand on paper in the order of theirs', async (t) => {
  const shown = async (text: string) => (await linesOn(paper([['', text]]))).at(-1)
  await lawOver(
    t,
    [
      ['٣٤٥', '٣٤٥'],
      ['م ٣٤٥', '٣٤٥ م'],
      ['م (١٢/٣٤)', '(١٢/٣٤) م'],
      ['۱۲۳ Kiosque', '۱۲۳ Kiosque'],
      ['Kiosque ۱۲۳٫۵', 'Kiosque ۱۲۳٫۵'],
      ['م 12٣4', '12٣4 م'],
      ['خ ٢٠٪.', '.٪٢٠ خ'],
      ['ߒ ߁߂߃', '߃߂߁ ߒ'],
      ['߁߂߃', '߃߂߁'],
    ] as const,
    async ([text, seen]) => {
      t.equal(await shown(text), seen, text)
    },
  )
})

t.test('Arabic letters are joined', async (t) => {
  const [letter, word] = ['م', 'متجر']
  const printed = printedIn(await paper([[letter, word]]))
  const glyphsOf = (shown: string) => printed.find(({ text }) => text === shown)!.glyphs
  t.not(glyphsOf(turned(word)).at(-1), glyphsOf(letter)[0])
})

t.test('what the font has no letter for is seen to be missing, each sign once', async (t) => {
  const lines = await linesOn(paper([['Café ☕ 太陽', '🌞 👨‍👩‍👧‍👦 ዳቦ é']], '太陽 Énergie'))
  const row = 'Café ☕ \ufffd\ufffd' + '\ufffd \ufffd \ufffd\ufffd é'
  t.strictSame(lines, ['\ufffd\ufffd Énergie', 'Facture', row])
})

t.test('a long text in Arabic takes as many lines as it needs, each of which has its words', async (t) => {
  const words = 'تركيب مصباح شمسي مع لوحه وبطاريته'
  const long = Array.from({ length: 8 }, () => words).join(' ')
  const printed = printedIn(await paper([[long, long]]))
  const column = printed.filter(({ x }) => x === margin).slice(2)
  t.ok(column.length > 8)
  t.strictSame(new Set(column.map(({ y, page }) => `${page} ${y}`)).size, column.length)
  t.equal(column.map(({ text }) => turned(text)).join(' '), long)
  const right = printed.filter(({ x }) => x > margin)
  t.equal(right.map(({ text }) => turned(text)).join(' '), long)
  const again = await paper([[long, long]])
  t.ok(again.equals(await paper([[long, long]])), 'the same bytes every time')
})

t.test('a word that is longer than its line goes on in the next one, and loses no letter', async (t) => {
  await lawOver(t, ['דג'.repeat(300), '٣٤'.repeat(300), `ד ${'bג'.repeat(200)}`], async (long) => {
    const lines = await linesOn(paper([[long, '']]))
    const lettersOf = (text: string) =>
      [...text].filter((one) => one !== ' ' && long.includes(one)).toSorted()
    t.strictSame(lettersOf(lines.join('')), lettersOf(long), long.slice(0, 4))
    t.ok(lines.length > 7)
  })
})

t.test('requests have their turn while a long file is drawn', async (t) => {
  const rows = Array.from({ length: 30 }, () => [long, '12 500 F CFA'] as const)
  const drawn = paper(rows)
  let [turns, isOver] = [0, false]
  const next = () => {
    turns++
    if (!isOver) setImmediate(next)
  }
  setImmediate(next)
  await drawn
  isOver = true
  t.ok(turns >= rows.length - 1, `${turns} turns`)
})
