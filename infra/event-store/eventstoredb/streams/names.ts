import { categoryOf } from '../../../../packages/kernel/decider.ts'
import type { LogFilter } from '../../../../packages/kernel/ports.ts'

/** Streams for what this service keeps about the log as a whole; none of it is an event of the log. */
const aboutTheLog = 'history'
export const historyStream = `${aboutTheLog}-of-this-log`
/** The server's own streams. */
const metadataOf = '$$'

export interface OwnStreams {
  /** Put before the name of each stream on the server; may be empty. */
  readonly prefix: string
  /** Categories of our streams. Left out: everything behind the prefix. */
  readonly categories?: readonly string[] | undefined
}

/**
 * A filter as the server evaluates it: names with one of these prefixes, or matching a regular expression.
 */
export type NameFilter = { readonly prefixes: readonly string[] } | { readonly regex: string }

/** As the server finds it. */
export function matches(filter: NameFilter, onServer: string): boolean {
  if ('regex' in filter) return new RegExp(filter.regex).test(onServer)
  return filter.prefixes.some((prefix) => onServer.startsWith(prefix))
}

/** Which streams of a shared server are ours, and their names there. */
export class StreamNames {
  readonly #prefix: string
  readonly #categories: readonly string[] | undefined

  constructor({ prefix, categories }: OwnStreams) {
    this.#prefix = prefix
    this.#categories = categories
  }

  /** Name of the stream for what is kept about the log. */
  readonly history = historyStream

  onServer(stream: string): string {
    return this.#prefix + stream
  }

  /** Name of its metadata stream on the server. */
  metadataOnServer(stream: string): string {
    return metadataOf + this.onServer(stream)
  }

  /** The name within this service; undefined for a stream that is not ours. */
  ours(onServer: string): string | undefined {
    if (!onServer.startsWith(this.#prefix)) return undefined
    const stream = onServer.slice(this.#prefix.length)
    return this.isOurs(stream) ? stream : undefined
  }

  /** The same for a metadata stream, that of what is kept about the log among them. */
  oursByMetadata(onServer: string): string | undefined {
    if (!onServer.startsWith(metadataOf)) return undefined
    const stream = onServer.slice(metadataOf.length)
    return stream === this.onServer(this.history) ? this.history : this.ours(stream)
  }

  isOurs(stream: string): boolean {
    if (stream === '' || stream.startsWith('$') || stream.startsWith(`${aboutTheLog}-`)) return false
    return !this.#categories || this.#categories.includes(categoryOf(stream))
  }

  filter({ categories = this.#categories }: LogFilter): NameFilter {
    return categories
      ? { prefixes: categories.map((category) => `${this.#prefix}${category}-`) }
      : { regex: `^${this.#prefix}(?!${aboutTheLog}-)[^$]` }
  }

  /** The metadata streams of all our streams, and of what is kept about the log. */
  get metadataFilter(): NameFilter {
    return this.#categories
      ? { prefixes: [...this.#categories, aboutTheLog].map((name) => `${metadataOf}${this.#prefix}${name}-`) }
      : { regex: `^\\$\\$${this.#prefix}[^$]` }
  }
}
