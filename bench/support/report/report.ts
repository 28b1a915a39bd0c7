import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chart } from './chart.ts'
import type { Row } from './contest.ts'
import { isReached, number, targetOf, type Report, type Result } from './result.ts'

const widths = [15, 11, 11, 8, 22, 10, 10]

/** One line of the table that is printed while the benchmark runs. */
export function line(row: Row, result: Result): string {
  const { name, ours, peer, ratio, unit, p50_ms, p99_ms } = result
  const cells = [
    name,
    number(ours),
    number(peer),
    number(ratio),
    targetOf(row),
    number(p50_ms),
    number(p99_ms),
  ]
  return `${cells.map((cell, index) => padded(cell, index)).join(' ')}  ${verdict(row, result)}  ${unit}`
}

function verdict(row: Row, result: Result): string {
  if (result.ratio === null) return 'not measured'
  if (!row.target) return ''
  return isReached(row, result) ? 'reached' : 'MISSED'
}

export const headings = ['name', 'ours', 'peer', 'ratio', 'to reach', 'p50 ms', 'p99 ms']
  .map(padded)
  .join(' ')

function padded(cell: string, index: number): string {
  const width = widths[index] ?? 0
  return index === 0 || index === 4 ? cell.padEnd(width) : cell.padStart(width)
}

export function writeReport(directory: string, report: Report): void {
  mkdirSync(directory, { recursive: true })
  const results = report.results.map(({ result }) => result)
  writeFileSync(join(directory, 'results.json'), `${JSON.stringify(results, undefined, 2)}\n`)
  writeFileSync(join(directory, 'results.md'), markdown(report))
  writeFileSync(join(directory, 'results.svg'), chart(report))
}

function markdown({ facts, results }: Report): string {
  const table = results.map(({ row, result }) => {
    const { name, ours, peer, ratio, unit, p50_ms, p99_ms, run = '' } = result
    const numbers = [ours, peer].map((value) => `${number(value)}`)
    const marked = isReached(row, result) ? `**${number(ratio)}**` : number(ratio)
    const cells = [name, ...numbers, unit, marked, targetOf(row), number(p50_ms), number(p99_ms), run]
    return `| ${cells.join(' | ')} |`
  })
  return [
    '# Benchmarks',
    '',
    'Written by `make bench`. Both sides of a row ran in turns on this machine, in the same run; each figure is the median',
    'of its rounds. Absolute figures move between runs and machines: read the ratios. A ratio in bold reaches its target.',
    'p50 and p99 are ours. The last column says when a row was measured, and at which commit.',
    '',
    '| | ours | peer | unit | ratio | to reach | p50 ms | p99 ms | run |',
    '|---|---:|---:|---|---:|---|---:|---:|---|',
    ...table,
    '',
    '![Ratios](results.svg)',
    '',
    '## What is compared',
    '',
    ...results.flatMap(({ row, result }) => [
      `- **${row.name}**: ${row.ours}. Against: ${row.peer}. ${sentence(result.note)}`,
    ]),
    '',
    '## The machine of the newest run',
    '',
    ...Object.entries(facts).map(([name, value]) => `- ${name}: ${value}`),
    '',
  ].join('\n')
}

function sentence(text: string): string {
  return text === '' ? '' : `${text[0]!.toUpperCase()}${text.slice(1)}.`
}
