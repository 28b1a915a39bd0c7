import { SingleBar } from 'cli-progress'
import { printable, printableLines } from './printable.ts'

export interface Printing {
  readonly json?: true
}

/** JSON for machines, text for people. */
export function print(value: unknown, { json }: Printing, text: () => string): void {
  const shown = json ? JSON.stringify(value, undefined, 2) : text()
  // Escapes control characters in sentences; tables and JSON do so themselves.
  process.stdout.write(`${printableLines(shown)}\n`)
}

type Cell = string | number | boolean | null | undefined

/** Columns with headers; numbers are right-aligned. */
export function table(rows: readonly Readonly<Record<string, Cell>>[], whenEmpty: string): string {
  const [first] = rows
  if (!first) return whenEmpty
  const columns = Object.keys(first).map((name) => {
    const cells = rows.map((row) => textOf(row[name]))
    const width = Math.max(name.length, ...cells.map((cell) => cell.length))
    const isNumber = rows.every((row) => typeof row[name] === 'number' || row[name] == null)
    const pad = (text: string) => (isNumber ? text.padStart(width) : text.padEnd(width))
    return { head: pad(name), cells: cells.map(pad) }
  })
  const lines = [
    columns.map(({ head }) => head),
    ...rows.map((_, index) => columns.map(({ cells }) => cells[index])),
  ]
  return lines.map((line) => line.join('  ').trimEnd()).join('\n')
}

function textOf(cell: Cell): string {
  if (cell === null || cell === undefined || cell === '') return '-'
  return typeof cell === 'number' ? grouped(cell) : printable(String(cell))
}

/** 1234567 is easier to read as 1 234 567. */
export function grouped(value: number): string {
  return value.toLocaleString('en').replaceAll(',', ' ')
}

/** `1 book`, `2 books`. */
export function counted(count: number, what: string): string {
  return `${grouped(count)} ${what}${count === 1 ? '' : 's'}`
}

export interface Progress {
  /** `of` may grow while the work goes on. */
  show(done: number, of: number): void
  end(): void
}

/** A progress bar on standard error if it is a terminal; nothing in a pipe. */
export function progress(label: string): Progress {
  if (!process.stderr.isTTY) return { show: () => undefined, end: () => undefined }
  const bar = new SingleBar({
    stream: process.stderr,
    format: `${label} {bar} {percentage}%  {value}/{total}`,
    clearOnComplete: true,
    hideCursor: true,
  })
  let begun = false
  return {
    show(done, of) {
      if (!begun) bar.start(of, 0)
      begun = true
      bar.setTotal(of)
      bar.update(Math.min(done, of))
    },
    end() {
      if (begun) bar.stop()
    },
  }
}
