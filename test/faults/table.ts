import type { Report, Row } from './run.ts'

const columns: readonly (readonly [title: string, of: (row: Row) => string | number])[] = [
  ['fault', ({ fault }) => fault],
  ['times injected', ({ injected }) => injected],
  ['acknowledged', ({ acknowledged }) => acknowledged],
  ['lost', ({ lost }) => lost],
  ['doubled', ({ doubled }) => doubled],
  ['longest unavailability (s)', ({ unavailableSeconds }) => unavailableSeconds.toFixed(2)],
]

/** The rows of a run as Markdown, which is readable as it stands. */
export function tableOf(rows: readonly Row[]): string {
  const lines = [
    columns.map(([title]) => title),
    ...rows.map((row) => columns.map(([, of]) => String(of(row)))),
  ]
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  const print = (line: readonly string[]) => {
    const cells = line.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!),
    )
    return `| ${cells.join(' | ')} |`
  }
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
  return [print(lines[0]!), rule, ...lines.slice(1).map(print)].join('\n')
}

/** What is wrong, one sentence each; none when nothing is. */
export function complaintsOf({ violations, unsettled, failures }: Report): readonly string[] {
  const open = unsettled ? [`not everything has come to its end: ${JSON.stringify(unsettled)}`] : []
  return [
    ...failures,
    ...open,
    ...violations.map(({ law, stages, rows }) => {
      return `broken: ${law} ${JSON.stringify(stages)}, for example ${JSON.stringify(rows)}`
    }),
  ]
}
