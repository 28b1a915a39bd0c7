import type { Row } from './contest.ts'
import { isReached, number, targetOf, type Report } from './result.ts'

const rowHeight = 30
const nameWidth = 120
const plotWidth = 460
const width = nameWidth + plotWidth + 170
const top = 40
const decades = { least: -0.6, most: 1.6 }

/** Ratios on a logarithmic scale: a bar from 1 to the result, and a mark at the target. */
export function chart({ results }: Report): string {
  const height = top + results.length * rowHeight + 20
  const bars = results.map(({ row, result }, index) => {
    const y = top + index * rowHeight
    const colour = !row.target ? '#888' : isReached(row, result) ? '#2a7f62' : '#b3562b'
    const [from, to] = [place(1), place(result.ratio ?? 1)].toSorted((one, other) => one - other)
    const aim = row.target ? `  (${targetOf(row)})` : ''
    const label = result.ratio === null ? 'not measured' : `${number(result.ratio)}${aim}`
    return [
      `<text x="${nameWidth - 8}" y="${y + 15}" text-anchor="end">${row.name}</text>`,
      `<rect x="${from}" y="${y + 3}" width="${Math.max(2, to! - from!)}" height="16" fill="${colour}"/>`,
      ...markOf(row, y),
      `<text x="${nameWidth + plotWidth + 8}" y="${y + 15}">${escaped(label)}</text>`,
    ].join('\n')
  })
  const one = `<line x1="${place(1)}" x2="${place(1)}" y1="${top - 8}" y2="${height - 12}" stroke="#999"/>`
  const title = `<text x="${nameWidth}" y="20">ours / peer, logarithmic; the mark is what is to be reached</text>`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    title,
    one,
    ...bars,
    '</svg>',
    '',
  ].join('\n')
}

function markOf({ target }: Row, y: number): readonly string[] {
  if (!target) return []
  const x = place('least' in target ? target.least : target.most)
  return [`<line x1="${x}" x2="${x}" y1="${y}" y2="${y + 22}" stroke="#222" stroke-width="2"/>`]
}

function place(ratio: number): number {
  const { least, most } = decades
  const decade = Math.min(most, Math.max(least, Math.log10(ratio)))
  return Math.round(nameWidth + ((decade - least) / (most - least)) * plotWidth)
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
