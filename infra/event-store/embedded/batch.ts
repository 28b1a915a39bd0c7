import type { Appended, NewEvent, StoredEvent } from '../../../packages/kernel/ports.ts'
import { encodeTextArray } from '../../postgres/client/encode-text-array.ts'
import type { RevisionCache } from './revision-cache.ts'

/** One pending append, with its events as the columns of a statement. */
export interface Append {
  readonly stream: string
  readonly expected: number
  readonly events: readonly NewEvent[]
  readonly columns: Columns
  readonly resolve: (appended: Appended) => void
  readonly reject: (error: unknown) => void
}

/** Values of all its events, joined. */
interface Columns {
  readonly ids: string
  readonly types: string
  readonly data: string
  readonly metadata: string
}

const eventsPerBatch = 1_000
const bytesPerBatch = 8 * 1024 * 1024

/** Neither control characters, which include the separator, nor lone surrogates. */
const plainText = /^[^\p{Cc}\p{Cs}]+$/u
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
/** What JSON allows and PostgreSQL's text does not: U+0000 and lone surrogates. */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/

/** Throws for events that no store could keep, so that they do not fail others in the same batch. */
export function columnsOf(stream: string, events: readonly NewEvent[]): Columns {
  if (events.length === 0) throw new TypeError(`an append to ${stream} has no events`)
  if (!plainText.test(stream)) throw new TypeError(`${JSON.stringify(stream)} cannot be the name of a stream`)
  for (const { id, type } of events) {
    if (!uuid.test(id)) throw new TypeError(`the event id ${JSON.stringify(id)} is not a UUID`)
    if (!plainText.test(type)) throw new TypeError(`${JSON.stringify(type)} cannot be the type of an event`)
  }
  return {
    ids: encodeTextArray(events.map(({ id }) => id)),
    types: encodeTextArray(events.map(({ type }) => type)),
    data: encodeTextArray(events.map(({ data }) => storableJson(data))),
    metadata: encodeTextArray(events.map(({ metadata }) => storableJson(metadata))),
  }
}

/** The events of an append as stored after a position: without what JSON drops. */
export function storedEvents({ stream, expected, events }: Append, after: number): StoredEvent[] {
  return events.map(({ id, type, data, metadata }, index) => ({
    stream,
    revision: expected + 1 + index,
    position: after + 1 + index,
    id: id.toLowerCase(),
    type,
    data: asRead(data),
    metadata: asRead(metadata),
  }))
}

/** As JSON gives it back: mostly the same, which is found out faster than it is written and parsed. */
function asRead<Value extends object>(value: Value): Value {
  return isKept(value) ? value : (JSON.parse(JSON.stringify(value)) as Value)
}

/** Whether JSON gives a value back as it is: it drops what is undefined, and writes dates as text. */
function isKept(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0)
  if (typeof value !== 'object') return false
  if (Array.isArray(value)) return value.every(isKept)
  if (Object.getPrototypeOf(value) !== Object.prototype) return false
  for (const name in value) if (!isKept((value as Readonly<Record<string, unknown>>)[name])) return false
  return true
}

/** JSON escapes control characters, so the separator cannot occur in it. */
function storableJson(value: object): string {
  const json = JSON.stringify(value)
  if (json.includes('\\u') && unstorable.test(json)) {
    throw new TypeError('an event holds U+0000 or half of a surrogate pair, which PostgreSQL cannot store')
  }
  return json
}

/**
 * Appends that are written by one statement: at most one per stream, so that each can be checked against what
 * is stored.
 */
export class Batch {
  readonly appends: Append[] = []
  /** Another process has written to one of its streams. */
  isContested = false
  readonly #streams = new Set<string>()
  #events = 0
  #bytes = 0

  /** False when the append must wait for another batch. */
  add(append: Append): boolean {
    const bytes = append.columns.data.length + append.columns.metadata.length
    const full = this.#events + append.events.length > eventsPerBatch || this.#bytes + bytes > bytesPerBatch
    if (this.appends.length > 0 && (full || this.#streams.has(append.stream))) return false
    this.appends.push(append)
    this.#streams.add(append.stream)
    this.#events += append.events.length
    this.#bytes += bytes
    return true
  }

  /** The parameters of `append_events`. Only streams whose revision is unknown are looked up. */
  parameters(known: RevisionCache): readonly string[] {
    const { appends } = this
    const looked = appends
      .map(({ stream, expected }, number) => ({ stream, expected, number }))
      .filter(({ stream, expected }) => this.isContested || !known.reached(stream, expected))
    return [
      looked.map(({ number }) => number + 1),
      looked.map(({ stream }) => stream),
      looked.map(({ expected }) => expected),
      appends.flatMap(({ events }, number) => events.map(() => number + 1)),
      appends.flatMap(({ events, stream }) => events.map(() => stream)),
      appends.flatMap(({ events, expected }) => events.map((_, index) => expected + 1 + index)),
      appends.map(({ columns }) => columns.ids),
      appends.map(({ columns }) => columns.types),
      appends.map(({ columns }) => columns.data),
      appends.map(({ columns }) => columns.metadata),
    ].map(encodeTextArray)
  }
}
