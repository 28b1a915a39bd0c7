import type { EventStore, StoredEvent } from '../../packages/kernel/ports.ts'

/** A history that is read from its beginning, or from behind a position. */
export interface History {
  /** Position of its newest event, 0 when there is none. */
  head(): Promise<number>
  /** Events up to a position, oldest first, many at a time. */
  pages(after: number, through: number): AsyncGenerator<readonly StoredEvent[], void>
}

const eventsPerPage = 5_000

/** The next page is read while somebody works on the one before. */
export function historyOf(store: Pick<EventStore, 'head' | 'readAll'>): History {
  return { head: () => store.head(), pages }

  async function* pages(after: number, through: number): AsyncGenerator<readonly StoredEvent[], void> {
    let ahead = store.readAll(after, eventsPerPage)
    for (;;) {
      const events = await ahead
      const last = events.at(-1)
      if (!last) return
      const isEnd = last.position >= through || events.length < eventsPerPage
      if (!isEnd) ahead = store.readAll(last.position, eventsPerPage)
      // Whoever reads no further does not hear what the read ahead came to.
      ahead.catch(() => undefined)
      const wanted = last.position > through ? events.filter(({ position }) => position <= through) : events
      if (wanted.length > 0) yield wanted
      if (isEnd) return
    }
  }
}
