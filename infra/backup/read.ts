import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { StoredEvent } from '../../packages/kernel/ports.ts'
import { unambiguousJson } from '../transparency/unambiguous-json.ts'
import type { HistorySource } from '../history/copy.ts'
import type { KeptRows } from '../postgres/history/bookkeeping.ts'
import { files, type Manifest } from './write.ts'

export interface SavedHistory {
  readonly manifest: Manifest
  readonly source: HistorySource
  bookkeeping(): AsyncIterable<KeptRows>
  /** Whether the bookkeeping is what the manifest tells of. Nobody signs either. */
  isBookkeepingKept(): Promise<boolean>
}

export class DamagedBackupError extends Error {
  override readonly name = 'DamagedBackupError'
}

const linesPerPage = 5_000
/** Rows of the tree are a hundred times as long as events. */
const charactersPerPage = 4_000_000
const charactersPerLine = 64_000_000

/** Undefined when this directory holds no complete backup. */
export function readBackup(directory: string): SavedHistory | undefined {
  const file = join(directory, files.manifest)
  if (!existsSync(file)) return undefined
  const manifest = manifestIn(file)
  const source: HistorySource = {
    id: manifest.history,
    head: async () => manifest.position,
    pages: (after, through) => eventsOf(join(directory, files.events), after, through),
  }
  const bookkeeping = join(directory, files.bookkeeping)
  let isChecked = false
  return {
    manifest,
    source,
    async *bookkeeping() {
      yield* rowsOf(bookkeeping, isChecked ? rowAt : rowIn)
      // It is walked several times, and parsing all of it takes longer than all else.
      isChecked = true
    },
    isBookkeepingKept: () => isKept(bookkeeping, manifest),
  }
}

function manifestIn(file: string): Manifest {
  const manifest = parsed(readFileSync(file, 'utf8')) as Partial<Manifest> | null | undefined
  const isWhole =
    Number.isSafeInteger(manifest?.events) &&
    Number.isSafeInteger(manifest?.position) &&
    !Number.isNaN(Date.parse(String(manifest?.at)))
  if (isWhole && (manifest?.format ?? 1) !== 1)
    throw new DamagedBackupError(`${file} is of a format that only a later version of this program reads`)
  if (isWhole) return manifest as Manifest
  throw new DamagedBackupError(`${file} does not say how many events there are, up to where and when`)
}

async function* eventsOf(
  file: string,
  after: number,
  through: number,
): AsyncGenerator<readonly StoredEvent[], void> {
  let read = 0
  for await (const lines of pagesOf(file)) {
    const events = lines.map((line, index) => eventIn(line, { file, number: read + index + 1 }))
    read += lines.length
    const wanted = events.filter(({ position }) => position > after && position <= through)
    if (wanted.length > 0) yield wanted
  }
}

interface FileLine {
  readonly file: string
  readonly number: number
}

/** Somebody may have written it who is not us: what is no event is named by its line. */
function eventIn(line: string, { file, number }: FileLine): StoredEvent {
  const event = parsed(line) as Partial<StoredEvent> | null | undefined
  const isEvent =
    [event?.position, event?.revision].every(Number.isInteger) &&
    typeof event?.stream === 'string' &&
    isFilled(event.data) &&
    isFilled(event.metadata)
  if (!isEvent) throw new DamagedBackupError(`line ${number} of ${file} is no event`)
  return event as StoredEvent
}

function isFilled(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function parsed(line: string): unknown {
  try {
    return unambiguousJson(line)
  } catch {
    return undefined
  }
}

async function* rowsOf(file: string, read: typeof rowIn): AsyncGenerator<KeptRows, void> {
  let before = 0
  for await (const lines of pagesOf(file)) {
    const byTable = new Map<string, string[]>()
    for (const [index, line] of lines.entries()) {
      const { table, row } = read(line, { file, number: before + index + 1 })
      const rows = byTable.get(table) ?? []
      rows.push(row)
      byTable.set(table, rows)
    }
    before += lines.length
    for (const [table, rows] of byTable) yield { table, rows }
  }
}

interface Row {
  readonly table: string
  readonly row: string
}

function rowAt(line: string): Row {
  const space = line.indexOf(' ')
  return { table: line.slice(0, space), row: line.slice(space + 1) }
}

const rowLine = /^[a-z_]+ \{.*\}$/

function rowIn(line: string, { file, number }: FileLine): Row {
  const found = rowAt(line)
  if (!rowLine.test(line) || parsed(found.row) === undefined)
    throw new DamagedBackupError(`line ${number} of ${file} is no row of a table`)
  return found
}

async function isKept(file: string, { bookkeeping }: Manifest): Promise<boolean> {
  // Backups of earlier versions do not tell of it.
  if (bookkeeping === undefined) return true
  const digest = createHash('sha256')
  for await (const lines of pagesOf(file)) for (const line of lines) digest.update(line).update('\n')
  return digest.digest('hex') === bookkeeping.sha256
}

async function* pagesOf(file: string): AsyncGenerator<readonly string[], void> {
  try {
    yield* linesOf(file)
  } catch (error) {
    if (!isOfFiles(error)) throw error
    throw new DamagedBackupError(`${file} cannot be read: ${error.message}`)
  }
}

/** What the disk or zlib says; whatever whoever reads the lines has thrown is theirs. */
function isOfFiles(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).code === 'string'
}

/** Throws when the file is truncated or damaged. */
async function* linesOf(file: string): AsyncGenerator<readonly string[], void> {
  const text = pipeline(createReadStream(file), createGunzip(), () => undefined).setEncoding('utf8')
  let page: string[] = []
  let characters = 0
  // Of the line that has not ended yet: put together once, so that a long one is not copied for each part.
  let parts: string[] = []
  let length = 0
  for await (const chunk of text as AsyncIterable<string>) {
    const lines = chunk.split('\n')
    length += lines[0]!.length
    if (length > charactersPerLine)
      throw new DamagedBackupError(`a line of ${file} is longer than any of ours`)
    parts.push(lines[0]!)
    if (lines.length > 1) {
      const rest = lines.pop()!
      lines[0] = parts.join('')
      page.push(...lines)
      parts = [rest]
      length = rest.length
    }
    characters += chunk.length
    if (page.length < linesPerPage && characters < charactersPerPage) continue
    yield page
    page = []
    characters = 0
  }
  // Whoever writes such a file may end it without a line feed.
  if (length > 0) page.push(parts.join(''))
  if (page.length > 0) yield page
}
