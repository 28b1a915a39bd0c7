import type { Series } from './checker.ts'

export interface Panel {
  readonly title: string
  readonly series: readonly Series[]
}

const width = 960
const plot = { left: 70, width: 620, height: 200, top: 40 }
const panelHeight = plot.height + plot.top + 40
const font = 'font-family="sans-serif" font-size="12"'
const headHeight = 50
const gridLines = 4
const colours = ['#1b6ca8', '#c0392b', '#27803a', '#8e44ad', '#d68910', '#117a65', '#5d6d7e', '#a04000']

/** One panel below the other, each with its own height, over the same time. */
export function chart(title: string, panels: readonly Panel[]): string {
  const shown = panels.filter(({ series }) => series.some(({ points }) => points.length > 1))
  const height = headHeight + shown.length * panelHeight
  const body = shown.map((panel, index) => panelOf(panel, headHeight + index * panelHeight))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ${font}>`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    `<text x="20" y="30" font-size="18">${escaped(title)}</text>`,
    ...body,
    '</svg>\n',
  ].join('\n')
}

function panelOf({ title, series }: Panel, top: number): string {
  const points = series.flatMap((one) => one.points)
  const most = roundUp(Math.max(1, ...points.map(({ value }) => value)))
  const end = Math.max(1, ...points.map(({ seconds }) => seconds))
  const x = (seconds: number) => (plot.left + (seconds / end) * plot.width).toFixed(1)
  const y = (value: number) => (plot.top + plot.height * (1 - value / most)).toFixed(1)
  const lines = Array.from({ length: gridLines + 1 }, (_, index) => {
    const value = (most / gridLines) * index
    const place = `x1="${plot.left}" x2="${plot.left + plot.width}" y1="${y(value)}" y2="${y(value)}"`
    const label = `<text x="${plot.left - 8}" y="${y(value)}" text-anchor="end" dy="4">${value}</text>`
    return `<line ${place} stroke="#ddd"/>${label}`
  })
  const drawn = series.map(({ points: own, name }, index) => {
    const colour = colours[index % colours.length]!
    const path = own.map(({ seconds, value }) => `${x(seconds)},${y(value)}`).join(' ')
    const dashes = index < colours.length ? '' : ' stroke-dasharray="5 3"'
    const line = `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="1.5"${dashes}/>`
    const place = `x="${plot.left + plot.width + 16}" y="${plot.top + 10 + index * 15}"`
    return `${line}<text ${place} fill="${colour}">${escaped(name)}</text>`
  })
  const foot = plot.top + plot.height + 18
  const times = [0, 0.25, 0.5, 0.75, 1].map(
    (part) =>
      `<text x="${x(end * part)}" y="${foot}" text-anchor="middle">${Math.round(end * part)} s</text>`,
  )
  const head = `<text x="${plot.left}" y="${plot.top - 12}" font-weight="bold">${escaped(title)}</text>`
  return [`<g transform="translate(0 ${top})">`, head, ...lines, ...drawn, ...times, '</g>'].join('\n')
}

function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return Math.ceil(value / power) * power
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
