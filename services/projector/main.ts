import type pg from 'pg'
import type { Fence } from '../../infra/postgres/fenced.ts'
import { Projector, type Track } from '../../infra/postgres/projector.ts'
import { parkedWishes } from '../../infra/postgres/parked.ts'
import { publications, publish } from '../../infra/postgres/publication.ts'
import type { AnyDecider } from '../../packages/kernel/decider.ts'
import type { EventStore, Log, StoredEvent, Subscription } from '../../packages/kernel/ports.ts'
import type { ReadModel } from '../../packages/kernel/projection.ts'

const batchSize = 5_000
const rebuildBatchSize = 5_000
/** Read models that are built anew share the log, but not their transactions. */
const rebuildGroups = 4
/** What a list may lag behind while events keep coming. */
const everyMs = 50
const wishesEveryMs = 500

export interface ProjectorServiceOptions {
  readonly pool: pg.Pool
  readonly store: EventStore
  readonly models: readonly ReadModel[]
  readonly deciders: readonly AnyDecider[]
  /** SQL of the views which stand on read models: publishing a read model drops them, so it runs again. */
  readonly dependents: string
  readonly log: Log
  /** Of the one projector that may write. */
  readonly fence?: Fence
}

/**
 * Keeps every read model at the end of the log, and builds those whose version or generation has changed
 * beside the old ones.
 */
export async function startProjector(options: ProjectorServiceOptions): Promise<Subscription> {
  const service = new ProjectorService(options)
  await service.open()
  return service.run()
}

class ProjectorService {
  readonly #options: ProjectorServiceOptions
  readonly #projector: Projector
  readonly #live = new Map<string, Track>()
  readonly #rebuilding = new Map<string, Track>()
  #turn: Promise<unknown> = Promise.resolve()
  #closed = false
  #wake: () => void = () => undefined

  constructor(options: ProjectorServiceOptions) {
    this.#options = options
    this.#projector = new Projector(options)
  }

  async open(): Promise<void> {
    const { pool, models } = this.#options
    const shown = await publications(pool)
    for (const model of models) {
      const published = shown.get(model.name)
      // A table of another version was folded by other code: it stands still until the new one is built
      // beside it.
      if (published?.version !== model.version) continue
      this.#live.set(model.name, await this.#projector.open(model, published.generation))
    }
  }

  run(): Subscription {
    const subscription = this.#options.store.subscribe({
      after:
        [...this.#live.values()].reduce(
          (least, { position }) => Math.min(least, position),
          Number.MAX_SAFE_INTEGER,
        ) % Number.MAX_SAFE_INTEGER,
      batchSize,
      everyMs,
      handle: (batch, through) =>
        this.#exclusively(() => this.#projector.apply([...this.#live.values()], batch, through)),
      onError: (error) => this.#options.log.warn({ error }, 'projecting is tried again'),
    })
    const background = this.#background()
    const close = async () => {
      this.#closed = true
      this.#wake()
      await subscription.close()
      await background
    }
    return { close }
  }

  /** Live batches, publications and parked streams take turns. */
  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => undefined)
    return result
  }

  /** Grants what the command line wishes: build this read model anew, try that parked stream again. */
  async #background(): Promise<void> {
    while (!this.#closed) {
      try {
        await this.#findRebuilds()
        if (this.#rebuilding.size > 0) await this.#rebuild([...this.#rebuilding.values()])
        await this.#retryParked()
      } catch (error) {
        this.#options.log.warn({ error }, 'work of the projector beside the log is tried again')
      }
      if (!this.#closed) await this.#pause()
    }
  }

  async #findRebuilds(): Promise<void> {
    const shown = await publications(this.#options.pool)
    for (const model of this.#options.models) {
      const published = shown.get(model.name)
      const wanted =
        published && (published.version === model.version ? published.wanted : published.generation + 1)
      if (!wanted || wanted === published.generation || this.#rebuilding.has(model.name)) continue
      this.#rebuilding.set(model.name, await this.#projector.open(model, wanted))
    }
  }

  /**
   * Reads the log once for all that is built anew; the last steps are gone while the live read models stand
   * still.
   */
  async #rebuild(tracks: readonly Track[]): Promise<void> {
    await this.#catchUp(tracks)
    for (const track of tracks) if (!this.#closed) await this.#projector.finish(track)
    await this.#exclusively(async () => {
      await this.#catchUp(tracks)
      for (const track of tracks) if (!this.#closed) await this.#show(track)
    })
  }

  async #show(track: Track): Promise<void> {
    await publish(this.#options, track)
    this.#live.set(track.model.name, track)
    this.#rebuilding.delete(track.model.name)
  }

  /** The next events are read while those before are written. */
  async #catchUp(tracks: readonly Track[]): Promise<void> {
    const { store } = this.#options
    let position = Math.min(...tracks.map((track) => track.position))
    let ahead = store.readAll(position, rebuildBatchSize)
    for (;;) {
      const events = await ahead
      const last = events.at(-1)
      if (!last || this.#closed) return
      position = last.position
      ahead = store.readAll(position, rebuildBatchSize)
      // What is read in vain fails where it is awaited, or nobody asks for it any more.
      ahead.catch(() => undefined)
      const groups = groupsOf(tracks).map((group) => this.#projector.apply(group, events, position))
      await allEnded(groups)
    }
  }

  async #retryParked(): Promise<void> {
    const { pool, fence } = this.#options
    for (const { consumer, stream } of await parkedWishes(pool, fence)) {
      const track = [...this.#live.values()].find(({ table }) => table.name === consumer)
      const unparked = track && this.#exclusively(() => this.#projector.unpark(track, stream))
      // Wishes are taken once: a stream that fails again must not take those of the others with it.
      await unparked?.catch((error: unknown) =>
        this.#options.log.warn({ consumer, stream, error }, 'stays parked'),
      )
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, wishesEveryMs)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

/** What fails is tried again, and must not meet those who were still at work when it failed. */
async function allEnded(works: readonly Promise<void>[]): Promise<void> {
  const ends = await Promise.allSettled(works)
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed) throw failed.reason
}

/** While the rows of one group are on their way to the database, those of another are made. */
function groupsOf(tracks: readonly Track[]): readonly (readonly Track[])[] {
  const groups = Array.from({ length: Math.min(rebuildGroups, tracks.length) }, (): Track[] => [])
  for (const [index, track] of tracks.entries()) groups[index % groups.length]!.push(track)
  return groups
}
