import { categoryOf } from '../../../packages/kernel/decider.ts'
import type { LogFilter } from '../../../packages/kernel/ports.ts'

/** What this service keeps about the log as a whole; none of it is an event of the log. */
const aboutTheLog = 'history'
const historyStream = `${aboutTheLog}-of-this-log`
/** Of the server itself. */
const metadataOf = '$$'

export interface OwnStreams {
  /** Stands before the name of each stream on the server; may be empty. */
  readonly prefix: string
  /** The kinds of streams that are ours. Left out: all behind the prefix. */
  readonly categories?: readonly string[] | undefined
}

/** A filter as the server evaluates it: names that begin with one of these, or that match. */
export type NameFilter = { readonly prefixes: readonly string[] } | { readonly regex: string }

/** Which streams of a server that others use too are ours, and what they are called there. */
export class StreamNames {
  readonly #prefix: string
  readonly #categories: readonly string[] | undefined

  constructor({ prefix, categories }: OwnStreams) {
    this.#prefix = prefix
    this.#categories = categories
  }

  /** Of what is kept about the log. */
  readonly history = historyStream

  onServer(stream: string): string {
    return this.#prefix + stream
  }

  /** Of its metadata, on the server. */
  metadataOnServer(stream: string): string {
    return metadataOf + this.onServer(stream)
  }

  /** The name among ourselves; undefined for a stream that is none of ours. */
  ours(onServer: string): string | undefined {
    if (!onServer.startsWith(this.#prefix)) return undefined
    const stream = onServer.slice(this.#prefix.length)
    return this.isOurs(stream) ? stream : undefined
  }

  /** The same for the metadata of a stream. */
  oursByMetadata(onServer: string): string | undefined {
    return onServer.startsWith(metadataOf) ? this.ours(onServer.slice(metadataOf.length)) : undefined
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

  /** The metadata of all of ours. */
  get metadataFilter(): NameFilter {
    return this.#categories
      ? { prefixes: this.#categories.map((category) => `${metadataOf}${this.#prefix}${category}-`) }
      : { regex: `^\\$\\$${this.#prefix}(?!${aboutTheLog}-)[^$]` }
  }
}
