import { stringify } from 'csv-stringify/sync'

/** What a spreadsheet would take for a formula: such a text is written behind an apostrophe. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/
/** Many readers end a line at either alone. */
const lineBreak = /[\r\n]/

/** Options of csv-stringify by which every file of ours is written: RFC 4180, without formulas. */
export const csvOptions = {
  record_delimiter: 'windows',
  quoted_match: lineBreak,
  cast: { string: (value: string) => (formula.test(value) ? `'${value}` : value) },
} as const

export function csvHeader(columns: readonly string[]): string {
  return stringify([[...columns]], csvOptions)
}

export function csvRows(columns: readonly string[], rows: readonly object[]): string {
  return stringify([...rows], { ...csvOptions, columns: [...columns] })
}
