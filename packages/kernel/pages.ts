import type { EventStore, StoredEvent } from './ports.ts'

/** The log after a position, page by page: the next page is read while the caller works on this one. */
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
    // A read that is no longer wanted fails where it is awaited, or not at all.
    ahead.catch(() => undefined)
    yield events
  }
}
