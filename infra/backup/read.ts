import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { StoredEvent } from '../../packages/kernel/ports.ts'
import type { HistorySource } from '../history/copy.ts'
import type { KeptRows } from '../postgres/history/bookkeeping.ts'
import { files, type Manifest } from './write.ts'

export interface SavedHistory {
  readonly manifest: Manifest
  readonly source: HistorySource
  bookkeeping(): AsyncIterable<KeptRows>
}

const linesPerPage = 5_000
/** Rows of the tree are a hundred times as long as events. */
const charactersPerPage = 4_000_000

/** Undefined when this directory holds no complete backup. */
export function readBackup(directory: string): SavedHistory | undefined {
  const file = join(directory, files.manifest)
  if (!existsSync(file)) return undefined
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Manifest
  const source: HistorySource = {
    id: manifest.history,
    head: async () => manifest.position,
    pages: (after, through) => eventsOf(join(directory, files.events), after, through),
  }
  return { manifest, source, bookkeeping: () => rowsOf(join(directory, files.bookkeeping)) }
}

async function* eventsOf(
  file: string,
  after: number,
  through: number,
): AsyncGenerator<readonly StoredEvent[], void> {
  for await (const lines of pagesOf(file)) {
    const events = lines.map((line) => JSON.parse(line) as StoredEvent)
    const wanted = events.filter(({ position }) => position > after && position <= through)
    if (wanted.length > 0) yield wanted
  }
}

async function* rowsOf(file: string): AsyncGenerator<KeptRows, void> {
  for await (const lines of pagesOf(file)) {
    const byTable = new Map<string, string[]>()
    for (const line of lines) {
      const space = line.indexOf(' ')
      const table = line.slice(0, space)
      const rows = byTable.get(table) ?? []
      rows.push(line.slice(space + 1))
      byTable.set(table, rows)
    }
    for (const [table, rows] of byTable) yield { table, rows }
  }
}

/** Throws when the file is truncated or damaged. */
async function* pagesOf(file: string): AsyncGenerator<readonly string[], void> {
  const text = pipeline(createReadStream(file), createGunzip(), () => undefined).setEncoding('utf8')
  let page: string[] = []
  let characters = 0
  let rest = ''
  for await (const chunk of text as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    page.push(...lines)
    characters += chunk.length
    if (page.length < linesPerPage && characters < charactersPerPage) continue
    yield page
    page = []
    characters = 0
  }
  if (page.length > 0) yield page
}
