import { inflateSync } from 'node:zlib'

/** A text on paper, from left to right as it is seen. */
export interface Printed {
  readonly text: string
  readonly page: number
  /** In points from the lower left corner. */
  readonly x: number
  readonly y: number
  /** The glyphs, as the file numbers them. */
  readonly glyphs: readonly string[]
}

/** What stands in a file as our library writes it, from the top on, and each line from the left on. */
export function printedIn(pdf: Buffer): readonly Printed[] {
  const found = [...pdf.toString('latin1').matchAll(/(\d+) 0 obj\n([^]*?)\nendobj/g)]
  const objects = new Map(found.map(([, id, body]) => [id!, body!]))
  const fonts = new Map<string, readonly string[]>()
  for (const body of objects.values()) {
    for (const [, name, id] of body.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
      const [, meaning] = /\/ToUnicode (\d+) 0 R/.exec(objects.get(id!)!)!
      fonts.set(name!, meaningsIn(streamOf(objects.get(meaning!)!)))
    }
  }
  const contents = [...objects.values()].filter((body) => body.includes('stream\n')).map(streamOf)
  const pages = contents.filter((text) => text.includes(' Tm'))
  const pieces = pages.flatMap((content, page) => piecesOf(content, fonts, page))
  return pieces.toSorted((one, other) => one.page - other.page || other.y - one.y || one.x - other.x)
}

function streamOf(body: string): string {
  const [, text = ''] = /stream\n([^]*?)\nendstream/.exec(body) ?? []
  if (!body.includes('/FlateDecode')) return text
  return inflateSync(Buffer.from(text, 'latin1')).toString('latin1')
}

/** What each glyph of a font means. */
function meaningsIn(map: string): readonly string[] {
  const texts = /beginbfrange\n([^]*?)\nendbfrange/.exec(map)?.[1] ?? ''
  const ranges = [...texts.matchAll(/\[([^\]]*)\]/g)].flatMap(([, all]) => [...all!.matchAll(/<([^>]*)>/g)])
  return ranges.map(([, hex]) => {
    const units = hex!.split(' ').map((unit) => Number.parseInt(unit, 16))
    return String.fromCharCode(...units)
  })
}

function piecesOf(content: string, fonts: ReadonlyMap<string, readonly string[]>, page: number) {
  const written = /1 0 0 1 ([\d.-]+) ([\d.-]+) Tm\n\/(F\d+) [\d.]+ Tf\n([^]*?)ET/g
  return [...content.matchAll(written)].map(([, x, y, font, shown]) => {
    const hex = [...shown!.matchAll(/<([0-9a-f]+)>/g)].map(([, one]) => one).join('')
    const glyphs = hex.match(/.{4}/g) ?? []
    const text = glyphs.map((one) => fonts.get(font!)![Number.parseInt(one, 16)] ?? '').join('')
    return { text, glyphs, page, x: Number(x), y: Number(y) }
  })
}
