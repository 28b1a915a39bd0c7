import t from 'tap'
import { paragraphOf, runsOf, type Run } from '../../services/api/pages/reading-order.ts'
import { lawOver } from '../support/law.ts'
import { visitor } from '../support/pages/browser.ts'
import { onOneLine, seenOrder } from '../support/pages/seen-order.ts'

const shop = 'متجر النور'

/** Letters and digits of both directions, with what stands between them. */
const alphabet = [...'abé', 'א', 'ב', 'ع', 'م', '٣', ...'57  (),.-%/×']

/** The same ones every time. */
function texts(count: number): readonly string[] {
  let seed = 7
  const next = (below: number) => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % below
  return Array.from({ length: count }, () =>
    Array.from({ length: 3 + next(14) }, () => alphabet[next(alphabet.length)]).join(''),
  )
}

t.test('on paper a line is in the order in which a browser shows it', async (t) => {
  const page = await visitor(t, {})
  await onOneLine(page)
  const samples = [shop, `${shop} (CI), 12/2026`, 'Kiosque النور 24', '5 000 F × 3', 'قهوة 2 × 1.500 + 7%']
  await lawOver(t, [...samples, ...texts(300)], async (text) => {
    const plain = text.trim()
    if (plain === '') return
    const paragraph = paragraphOf(plain)
    const runs = runsOf(paragraph, 0, paragraph.characters.length)
    const seen = runs.map(asDrawn).join('')
    t.equal(unmirrored(seen), unmirrored(await seenOrder(page, plain)), JSON.stringify(plain))
  })
})

function asDrawn({ text, isRightToLeft }: Run): string {
  return isRightToLeft ? [...text].toReversed().join('') : text
}

/** Brackets are drawn the other way round where they stand in what is read from right to left. */
function unmirrored(text: string): string {
  return text.replaceAll(/[()]/g, '|')
}
