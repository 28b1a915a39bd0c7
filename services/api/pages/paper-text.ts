import { hasRightToLeft } from '../../../packages/contract/locale/direction.ts'
import { paragraphOf, runsOf, type Paragraph, type Run } from './reading-order.ts'

type Paper = PDFKit.PDFDocument

export interface Place {
  readonly x: number
  readonly y: number
  readonly align?: 'right'
}

/** A text in its reading order, on as many lines as it needs. */
export interface Laid {
  readonly height: number
  /** The next text is drawn below it. */
  readonly draw: (place: Place) => void
}

export function laidOut(pdf: Paper, text: string, width: number): Laid {
  const seen = drawable(pdf, text)
  if (hasRightToLeft(seen)) return laidInLines(pdf, linesOf(pdf, seen, width), width)
  return {
    height: pdf.heightOfString(seen, { width }),
    draw: ({ x, y, align }) => void pdf.text(seen, x, y, { width, ...(align && { align }) }),
  }
}

function laidInLines(pdf: Paper, lines: readonly (readonly Run[])[], width: number): Laid {
  const lineHeight = pdf.currentLineHeight(true)
  return {
    height: lines.length * lineHeight,
    draw: ({ x, y, align }) => {
      let top = y
      for (const runs of lines) {
        if (top + lineHeight > pdf.page.height - pdf.page.margins.bottom) top = pdf.addPage().page.margins.top
        let left = align === 'right' ? x + width - widthOf(pdf, runs) : x
        for (const run of runs) {
          pdf.text(run.text, left, top, { lineBreak: false, features: [] })
          left += widthOf(pdf, [run])
        }
        top += lineHeight
      }
      pdf.y = top
    },
  }
}

export function widthOfText(pdf: Paper, text: string): number {
  const seen = drawable(pdf, text)
  if (!hasRightToLeft(seen)) return pdf.widthOfString(seen)
  return Math.max(...seen.split('\n').map((one) => widthOf(pdf, runsIn(paragraphOf(one)))))
}

/** As a whole, not word by word as the library does it else: letters are joined, and words stay in order. */
function widthOf(pdf: Paper, runs: readonly Run[]): number {
  return runs.reduce((sum, { text }) => sum + pdf.widthOfString(text, { features: [] }), 0)
}

// Lines

function linesOf(pdf: Paper, text: string, width: number): readonly (readonly Run[])[] {
  return text.split('\n').flatMap((one) => {
    const paragraph = paragraphOf(one)
    return wrapped(pdf, paragraph, width).map(([from, to]) => runsIn(paragraph, from, to))
  })
}

const usualWordLength = 16

/** Where each line begins and ends: as many words as fit, and of a word that is too long as much as fits. */
function wrapped(pdf: Paper, paragraph: Paragraph, width: number): readonly (readonly [number, number])[] {
  const { characters } = paragraph
  const lines: [number, number][] = []
  const fits = (from: number, to: number) => widthOf(pdf, runsIn(paragraph, from, to)) <= width
  let [from, end] = [0, 0]
  while (end < characters.length) {
    const space = characters.findIndex((one, at) => at >= end && isSpace(one))
    const next = space < 0 ? characters.length : space + 1
    const around = lastAround((to) => fits(from, to), [Math.max(end, from + 1), next])
    if (around[0] === next) {
      end = next
      continue
    }
    if (end === from) end = lastBetween((to) => fits(from, to), around)
    lines.push([from, end])
    from = end
  }
  return [...lines, ...(from < end || lines.length === 0 ? [[from, end] as [number, number]] : [])]
}

type Fits = (end: number) => boolean
type Ends = readonly [fitting: number, other: number]

/**
 * An end that fits and one that does not, or the last twice. The first one fits or has to do, and they are
 * looked for from there on: a word may be as long as its text.
 */
function lastAround(fits: Fits, [first, last]: Ends): Ends {
  let [known, step] = [first, usualWordLength]
  while (known < last) {
    const next = Math.min(known + step, last)
    if (!fits(next)) return [known, next]
    known = next
    step *= 2
  }
  return [last, last]
}

function lastBetween(fits: Fits, [fitting, other]: Ends): number {
  let [known, tooFar] = [fitting, other]
  while (tooFar - known > 1) {
    const middle = (known + tooFar) >> 1
    if (fits(middle)) known = middle
    else tooFar = middle
  }
  return known
}

function isSpace(character: string): boolean {
  return /[^\S\u00a0\u202f]/u.test(character)
}

const unseen = /[\u061c\u200e\u200f\u2068\u2069]/gu

/** Without spaces at the end of the line, which would move what stands before them. */
function runsIn(paragraph: Paragraph, from = 0, to = paragraph.characters.length): readonly Run[] {
  let end = to
  while (end > from && isSpace(paragraph.characters[end - 1]!)) end--
  return runsOf(paragraph, from, end).flatMap((run) => {
    const text = run.text.replaceAll(unseen, '')
    return text === '' ? [] : piecesOf({ ...run, text }).map((piece) => ({ ...run, text: piece }))
  })
}

/**
 * The library turns around by itself what is written in a script that is read from right to left, such as
 * letters and the digits of N’Ko. It turns Arabic digits, too, which are read from left to right, and other
 * signs now and then: so those are turned before, and these are drawn one by one.
 */
function piecesOf({ text, isRightToLeft }: Run): readonly string[] {
  if (isRightToLeft) return lettersOrDigits.test(text) ? [text] : [...text].toReversed()
  if (!hasRightToLeft(text)) return [text]
  return cutByScript(text).flatMap((piece) => {
    if (!hasRightToLeft(piece)) return [piece]
    return lettersOrDigits.test(piece) ? [[...piece].toReversed().join('')] : [...piece]
  })
}

const lettersOrDigits = /[\p{L}\p{Nd}]/u

/** What stands together of scripts that are read from right to left, and of others. */
function cutByScript(text: string): readonly string[] {
  const pieces: string[] = []
  for (const character of text) {
    const last = pieces.at(-1)
    if (last !== undefined && hasRightToLeft(last) === hasRightToLeft(character))
      pieces.splice(-1, 1, last + character)
    else pieces.push(character)
  }
  return pieces
}

// What a font has

interface Drawing {
  readonly _font: { readonly font: { hasGlyphForCodePoint(code: number): boolean } }
}

const clusters = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** Told apart from letters by Unicode: joiners, selectors of variants, marks of direction. */
const ignorable = /\p{Default_Ignorable_Code_Point}/u
/** They change how letters are drawn, in which order, and where words are cut. */
const kept = /[\u00ad\u061c\u200c-\u200f\u2068\u2069]/u
const instead = '\ufffd'

/** What the font has no letter for is seen to be missing: each emoji or sign as one mark. */
function drawable(pdf: Paper, text: string): string {
  // No version of the library tells it in another way.
  const { font } = (pdf as unknown as Drawing)._font
  const has = (one: string) => /\s/u.test(one) || font.hasGlyphForCodePoint(one.codePointAt(0)!)
  return [...clusters.segment(text)]
    .map(({ segment }) => {
      const seen = [...segment].filter((one) => !ignorable.test(one) || kept.test(one))
      return seen.every((one) => kept.test(one) || has(one)) ? seen.join('') : instead
    })
    .join('')
}
