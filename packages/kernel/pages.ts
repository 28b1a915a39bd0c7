import type { EventStore, StoredEvent } from './ports.ts'

/** The log behind a position, page by page: the next one is read while somebody works on the one before. */
export async function* readInPages(
  store: Pick<EventStore, 'readAll'>,
  after: number,
  eventsPerPage: number,
): AsyncGenerator<readonly StoredEvent[], void> {
  let ahead = store.readAll(after, eventsPerPage)
  for (;;) {
    const events = await ahead
    const last = events.at(-1)
    if (!last) return
    ahead = store.readAll(last.position, eventsPerPage)
    // What is read in vain fails where it is awaited, or nobody asks for it any more.
    ahead.catch(() => undefined)
    yield events
  }
}
