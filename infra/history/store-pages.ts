import type { EventStore, StoredEvent } from '../../packages/kernel/ports.ts'

/** A history read from its beginning, or from after a position. */
export interface History {
  /** Position of its newest event, 0 when there is none. */
  head(): Promise<number>
  /** Events up to a position, oldest first, in large pages. */
  pages(after: number, through: number): AsyncGenerator<readonly StoredEvent[], void>
}

const eventsPerPage = 5_000

export function historyOf(store: Pick<EventStore, 'head' | 'readOn'>): History {
  return { head: () => store.head(), pages }

  async function* pages(after: number, through: number): AsyncGenerator<readonly StoredEvent[], void> {
    let page: StoredEvent[] = []
    for await (const events of store.readOn(after)) {
      const isEnd = events.at(-1)!.position >= through
      page.push(...(isEnd ? events.filter(({ position }) => position <= through) : events))
      if (isEnd) break
      if (page.length < eventsPerPage) continue
      yield page
      page = []
    }
    if (page.length > 0) yield page
  }
}
