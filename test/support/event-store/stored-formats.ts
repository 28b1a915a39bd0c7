import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deciders } from '../../../packages/domain/index.ts'
import type { EventType } from '../../../packages/kernel/event-types.ts'
import { root } from '../root.ts'

/** How one version of one type of event is stored, with an example. */
export interface StoredFormat {
  readonly type: string
  readonly version: number
  readonly schema: unknown
  readonly data: object
}

const file = join(root, 'test/fixtures/stored-formats.ndjson')

/** One format per line, so that concurrent additions do not conflict. */
export function readFormats(): readonly StoredFormat[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as StoredFormat)
}

export function declaredTypes(): ReadonlyMap<string, EventType> {
  return new Map(deciders.flatMap(({ events }) => Object.entries(events)))
}

/** The schema as JSON, without annotations for documentation or sealing. */
export function plain(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema), (name, value: unknown) => {
    const isSaid = (name === 'description' && typeof value === 'string') || name.startsWith('x-')
    return isSaid ? undefined : value
  })
}

/** Adds declared formats that are not recorded yet. A recorded one never changes. */
export function recordFormats(exampleOf: (type: string, declared: EventType) => object): void {
  const formats = new Map(readFormats().map((format) => [nameOf(format), format]))
  for (const [type, declared] of declaredTypes()) {
    const { version, schema } = declared
    const name = nameOf({ type, version })
    if (!formats.has(name))
      formats.set(name, { type, version, schema: plain(schema), data: exampleOf(type, declared) })
  }
  const sorted = [...formats].sort(([one], [other]) => (one < other ? -1 : 1))
  writeFileSync(file, sorted.map(([, format]) => `${JSON.stringify(format)}\n`).join(''))
}

function nameOf({ type, version }: Pick<StoredFormat, 'type' | 'version'>): string {
  return `${type} ${String(version).padStart(3, '0')}`
}
