import type { LogPosition } from './requests.ts'

/** Our newest event, and how far behind it the log was searched for more of ours. */
export interface Searched {
  /** 0 when there is none of ours. */
  readonly position: number
  /** A place in the server's log, which is that of an event. */
  readonly commit: number
}

export interface SearchedLogOptions {
  /** Changes when the next answer may come from another server. */
  readonly doubts: () => number
  /** The newest event of the server, whoever wrote it; undefined when there is none. */
  readonly end: () => Promise<number | undefined>
  /** True when something in our streams stands behind this place of the server's log. */
  readonly hasMore: (commit: number) => Promise<boolean>
  /** Searches backwards, which takes long when others have written much since. */
  readonly newest: () => Promise<Searched>
}

/**
 * On a busy server a quiet installation must not search what others write again and again. As long as events
 * of ours keep coming, the newest is near the end and found at once; when none comes, the place up to which
 * there was none is remembered.
 */
export class SearchedLog {
  readonly #options: SearchedLogOptions
  #known: (Searched & { readonly doubts: number }) | undefined
  #isQuiet = true

  constructor(options: SearchedLogOptions) {
    this.#options = options
  }

  /** Position of our newest event. */
  async head(): Promise<number> {
    const { doubts, end, hasMore, newest } = this.#options
    const known = this.#valid
    const now = doubts()
    const through = this.#isQuiet ? await end() : undefined
    const isSame = known !== undefined && through !== undefined && !(await hasMore(known.commit))
    const found = isSame ? known : await newest()
    this.#isQuiet = known === undefined || found.position === known.position
    const commit = Math.max(found.commit, known?.commit ?? 0, through ?? 0)
    this.#known = { position: found.position, commit, doubts: now }
    return found.position
  }

  /** Where a read for what is behind this position begins, instead of at this place. */
  startBehind(position: number, from: number): number {
    const known = this.#valid
    return known && position >= known.position ? Math.max(from, known.commit) : from
  }

  get #valid(): Searched | undefined {
    return this.#known?.doubts === this.#options.doubts() ? this.#known : undefined
  }
}

export function startOf(commit: number): LogPosition {
  return commit > 0 ? commit : 'start'
}
