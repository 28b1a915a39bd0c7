import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rows } from '../../rows/index.ts'
import { root } from '../root.ts'
import type { Report, Result } from './result.ts'

/** Where the results are that are committed. */
export const keptDirectory = join(root, 'bench')

/** The day and the commit of a run; a `+` marks changes that were not committed. */
export function runOfToday(): string {
  const git = (...options: string[]) => execFileSync('git', options, { cwd: root, encoding: 'utf8' }).trim()
  const isChanged = git('status', '--porcelain', '--untracked-files=no') !== ''
  return `${new Date().toISOString().slice(0, 10)} ${git('rev-parse', '--short=8', 'HEAD')}${isChanged ? '+' : ''}`
}

/** Measured rows beside those that were kept before, in the order of the table. */
export function besideKept({ facts, results }: Report): Report {
  const kept = JSON.parse(readFileSync(join(keptDirectory, 'results.json'), 'utf8')) as readonly Result[]
  const known = new Map([...kept, ...results.map(({ result }) => result)].map((one) => [one.name, one]))
  const all = rows.flatMap((row) => {
    const result = known.get(row.name)
    return result === undefined ? [] : [{ row, result }]
  })
  return { facts, results: all }
}
