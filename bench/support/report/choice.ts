import { rows } from '../../rows/index.ts'
import type { Row } from './contest.ts'

export const namesOfRows = rows.map(({ name }) => name).join(', ')

/** The rows named on the command line, in the order of the report. Exits on an unknown name. */
export function rowsNamed(names: readonly string[]): readonly Row[] {
  const unknown = names.filter((name) => !rows.some((row) => row.name === name))
  if (unknown.length > 0) fail(`there is no row ${unknown.join(', ')}; there are ${namesOfRows}`)
  return rows.filter(({ name }) => names.includes(name))
}

/** Exits with one sentence. */
export function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`)
  process.exit(2)
}
