import { parseStreamName } from '../../../packages/kernel/decider.ts'
import type { EventTypes } from '../../../packages/kernel/event-types.ts'
import { erased, join, part, subjectName } from '../../../packages/kernel/personal.ts'
import {
  DamagedStreamError,
  type EventStore,
  type NewEvent,
  type StoredEvent,
} from '../../../packages/kernel/ports.ts'
import { RecentlyUsed } from '../../../packages/kernel/execution/recently-used.ts'
import type { OpeningKey, SubjectKey, SubjectKeys } from '../../postgres/privacy/subject-keys.ts'
import { blindOf, digestOf, open, seal } from './box.ts'

/**
 * What subscriptions of this process will open, each of them, by the digest, which only this content has in
 * this event.
 */
type Contents = Pick<RecentlyUsed<Content>, 'get' | 'set'>
type Content = Readonly<Record<string, unknown>>

/** As many as subscriptions that keep up may still have to open. */
const contentsMax = 10_000

export interface SealingOptions {
  /** All stored event types. */
  readonly types: EventTypes
  readonly keys: Pick<SubjectKeys, 'inUse' | 'forSealing' | 'forOpening'>
}

/**
 * A store that seals personal fields on the way in and opens them for readers. Only this layer knows of it;
 * the store behind it holds sealed events, and copies of the log contain nothing else.
 */
export function sealedStore(store: EventStore, options: SealingOptions): EventStore {
  const contents: Contents = new RecentlyUsed(contentsMax)
  const sealing = { ...options, contents }
  const reader = new Opener(options)
  return {
    ...store,
    append: async (stream, expected, events) =>
      store.append(stream, expected, await sealedEvents(sealing, stream, events)),
    readStream: async (stream, from, limit) => reader.opened(await store.readStream(stream, from, limit)),
    readAll: async (after, limit, filter) => reader.opened(await store.readAll(after, limit, filter)),
    async readAt(position) {
      const event = await store.readAt(position)
      return event && (await reader.opened([event]))[0]
    },
    readOn: (after) => oneAhead(store.readOn(after), (events) => reader.opened(events)),
    subscribe: (subscription) =>
      store.subscribe({
        ...subscription,
        handle: async (events, through) =>
          subscription.handle(await reader.opened(events, contents), through),
      }),
  }
}

/** Usually all keys are cached, and nothing has to be awaited. */
export async function sealedEvents(
  { types, keys, contents }: SealingOptions & { readonly contents?: Contents },
  stream: string,
  events: readonly NewEvent[],
): Promise<readonly NewEvent[]> {
  const sealed: NewEvent[] = []
  for (const event of events) {
    const { sealing } = types[event.type] ?? {}
    const parted = sealing && part(sealing.fields, event.data as Record<string, unknown>)
    const about = parted?.personal && sealing?.subjectOf(event.data as never, parseStreamName(stream).id)
    if (!parted?.personal || about === undefined) {
      sealed.push(event)
      continue
    }
    const subject = subjectName(event.metadata, about)
    const key = keys.inUse(subject) ?? (await keys.forSealing(subject))
    const box = sealedEvent(event, parted.rest, { key, content: JSON.stringify(parted.personal) })
    contents?.set(nameOf(box), parted.personal)
    sealed.push(box)
  }
  return sealed
}

interface Box {
  readonly key: SubjectKey
  readonly content: string
}

function sealedEvent({ id, type, metadata }: NewEvent, data: object, { key, content }: Box): NewEvent {
  const { salt } = metadata
  if (salt === undefined) throw new Error(`the event ${id} has no salt`)
  const box = seal(key.key, content, { salt, id: id.toLowerCase() })
  const digest = digestOf(content, blindOf(key.key, salt))
  return { id, type, data, metadata: Object.assign({}, metadata, { sealed: { key: key.id, box, digest } }) }
}

class Opener {
  readonly #options: SealingOptions

  constructor(options: SealingOptions) {
    this.#options = options
  }

  /** Waits only for keys that are not cached. `contents` are for events that will be handed out again. */
  async opened(events: readonly StoredEvent[], contents?: Contents): Promise<readonly StoredEvent[]> {
    const ids: string[] = []
    for (const { metadata } of events) if (metadata.sealed) ids.push(metadata.sealed.key)
    if (ids.length === 0) return events
    const keys = await this.#options.keys.forOpening(ids)
    let at = 0
    return events.map((event) => (event.metadata.sealed ? this.#open(event, keys[at++], contents) : event))
  }

  #open(event: StoredEvent, key: OpeningKey, contents?: Contents): StoredEvent {
    if (key === undefined)
      return damaged(event, 'is sealed with a key that this database does not have, or not as it was written')
    if (!key) return { ...withData(event, this.#erased(event)), isErased: true }
    const known = contents?.get(nameOf(event))
    const content = known ?? contentOf(event, key)
    if (!content) return damaged(event, 'is sealed in a box that its key does not open')
    if (!known) contents?.set(nameOf(event), content)
    const whole = joined(event, content)
    return whole ? withData(event, whole) : damaged(event, 'does not show what of it was sealed')
  }

  #erased({ type, data }: StoredEvent): object {
    const fields = this.#options.types[type]?.sealing?.fields ?? {}
    return erased(fields, data as Record<string, unknown>)
  }
}

function contentOf({ id, metadata }: StoredEvent, key: Buffer): Content | undefined {
  try {
    return JSON.parse(open(key, metadata.sealed!.box, { salt: metadata.salt!, id })) as Content
  } catch {
    return undefined
  }
}

function joined({ data }: StoredEvent, content: Content): object | undefined {
  try {
    return join(data as Content, content)
  } catch {
    return undefined
  }
}

/** Concerns only those who need this event: others of the same page are nobody's damage. */
function damaged(event: StoredEvent, problem: string): StoredEvent {
  const { stream, revision } = event
  return { ...event, damage: new DamagedStreamError({ stream, problem: `at ${revision} ${problem}` }) }
}

/** Boxes from before there were receipts have no digest. */
function nameOf({ metadata: { sealed } }: NewEvent): string {
  return sealed!.digest ?? sealed!.box
}

/** Field by field, which takes a fraction of the time of a spread. */
function withData(
  { stream, revision, position, id, type, metadata }: StoredEvent,
  data: object,
): StoredEvent {
  return { stream, revision, position, id, type, data, metadata }
}

/** Prepares a page while the caller works on the one before. */
async function* oneAhead<Page>(
  pages: AsyncGenerator<Page, void>,
  prepare: (page: Page) => Promise<Page>,
): AsyncGenerator<Page, void> {
  const next = async () => {
    const { value, done } = await pages.next()
    return done ? undefined : prepare(value)
  }
  let ahead = next()
  try {
    for (let page = await ahead; page !== undefined; page = await ahead) {
      ahead = next()
      // A page that is no longer wanted fails where it is awaited, or not at all.
      ahead.catch(() => undefined)
      yield page
    }
  } finally {
    await ahead.catch(() => undefined)
    await pages.return()
  }
}
