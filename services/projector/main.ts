import type pg from 'pg'
import type { GiveWay } from '../../infra/event-loop/turns.ts'
import { settleAll } from '../../infra/postgres/client/settle-all.ts'
import { isDataFailure } from '../../infra/postgres/client/failures.ts'
import type { TermFence } from '../../infra/postgres/consumers/fence.ts'
import type { ProjectionCursor } from '../../infra/postgres/read-models/projection-cursor.ts'
import { Projector } from '../../infra/postgres/read-models/projector.ts'
import type { ProjectionBatch } from '../../infra/postgres/read-models/projection-batch.ts'
import { takeRetryRequests } from '../../infra/postgres/consumers/parked.ts'
import { publications, publish, type Published } from '../../infra/postgres/read-models/publication.ts'
import type { AnyDecider } from '../../packages/kernel/decider.ts'
import type { EventStore, Log, StoredEvent, Subscription } from '../../packages/kernel/ports.ts'
import type { ReadModel } from '../../packages/kernel/projection.ts'

const batchSize = 5_000
const spanMaxDefault = 40_000
/** How far a list may lag behind while events keep coming. */
const everyMs = 50
const pollEveryMs = 500

export interface ProjectorServiceOptions {
  readonly pool: pg.Pool
  readonly store: EventStore
  readonly models: readonly ReadModel[]
  readonly deciders: readonly AnyDecider[]
  /** SQL of the views that depend on read models: publishing a read model drops them, so it runs again. */
  readonly dependents: string
  readonly log: Log
  /** The fence of the one projector that may write. */
  readonly fence?: TermFence
  /** Events written at once while read models are rebuilt. */
  readonly spanMax?: number
  readonly giveWay?: GiveWay
}

/**
 * Keeps every read model up to date with the log, and rebuilds those whose version or generation has changed
 * beside the published ones.
 */
export async function startProjector(options: ProjectorServiceOptions): Promise<Subscription> {
  const service = new ProjectorService(options)
  await service.open()
  return service.run()
}

class ProjectorService {
  readonly #options: ProjectorServiceOptions
  readonly #projector: Projector
  readonly #live = new Map<string, ProjectionCursor>()
  readonly #rebuilding = new Map<string, ProjectionCursor>()
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
      // A table of another version was folded by other code: it stays as it is until the new one is built
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

  /** Carries out requests of the command line: rebuild a read model, retry a parked stream. */
  async #background(): Promise<void> {
    while (!this.#closed) {
      await this.#try(() => this.#rebuildAll())
      await this.#try(() => this.#retryParked())
      if (!this.#closed) await this.#pause()
    }
  }

  /** A failure of one kind of work does not keep the others from their turn. */
  async #try(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#options.log.warn({ error }, 'work of the projector beside the log is tried again')
    }
  }

  async #rebuildAll(): Promise<void> {
    await this.#findRebuilds()
    if (this.#rebuilding.size > 0) await this.#rebuild([...this.#rebuilding.values()])
  }

  /** Repeats until it finds no more: a rebuild of all read models is requested one by one. */
  async #findRebuilds(): Promise<void> {
    for (;;) {
      const shown = await publications(this.#options.pool)
      const found = this.#options.models.flatMap((model) => {
        const generation = wantedGeneration(model, shown.get(model.name))
        return generation && !this.#rebuilding.has(model.name) ? [{ model, generation }] : []
      })
      if (found.length === 0) return
      const tracks = found.map(({ model, generation }) => this.#projector.openAnew(model, generation))
      for (const track of await settleAll(tracks)) this.#rebuilding.set(track.model.name, track)
    }
  }

  /** Reads the log once for everything that is rebuilt; for its last steps the live read models pause. */
  async #rebuild(tracks: readonly ProjectionCursor[]): Promise<void> {
    await this.#catchUp(tracks)
    if (!this.#closed) await this.#projector.finish(tracks)
    await this.#exclusively(async () => {
      await this.#catchUp(tracks)
      for (const track of tracks) if (!this.#closed) await this.#show(track)
    })
  }

  async #show(track: ProjectionCursor): Promise<void> {
    await publish(this.#options, track)
    this.#live.set(track.model.name, await this.#projector.open(track.model, track.generation))
    this.#rebuilding.delete(track.model.name)
  }

  /** A batch with a row that PostgreSQL refuses is repeated page by page, which finds the row. */
  async #catchUp(tracks: readonly ProjectionCursor[]): Promise<void> {
    for (;;) {
      try {
        return await this.#followLog(tracks)
      } catch (error) {
        if (!isDataFailure(error)) throw error
        await this.#applyPages(tracks)
      }
    }
  }

  /** How far one batch may go. */
  async #applyPages(tracks: readonly ProjectionCursor[]): Promise<void> {
    const { store, spanMax = spanMaxDefault } = this.#options
    await this.#projector.locate(tracks)
    const log = store.readOn(leastPosition(tracks))
    for (let events = 0; events < spanMax && !this.#closed;) {
      const { value, done } = await log.next()
      if (done) return
      await this.#projector.apply(tracks, value, value.at(-1)!.position)
      events += value.length
    }
  }

  /** While a batch is written, the next one is read and folded. */
  async #followLog(tracks: readonly ProjectionCursor[]): Promise<void> {
    let writing: Promise<void> | undefined
    try {
      let span = await this.#projector.begin(tracks)
      const log = this.#options.store.readOn(leastPosition(tracks))
      for (;;) {
        const through = await this.#fill(span, log)
        await writing
        if (through === undefined) return
        writing = this.#projector.writeApart(span, through)
        writing.catch(() => undefined)
        span = await this.#projector.begin(tracks)
      }
    } catch (error) {
      await writing?.catch(() => undefined)
      this.#projector.abandon(tracks)
      throw error
    }
  }

  /** Returns how far the batch goes; `undefined` at the head of the log, or when there is no time left. */
  async #fill(
    span: ProjectionBatch,
    log: AsyncIterator<readonly StoredEvent[]>,
  ): Promise<number | undefined> {
    const { spanMax = spanMaxDefault } = this.#options
    let through: number | undefined
    for (let events = 0; events < spanMax;) {
      const { value, done } = await log.next()
      if (this.#closed) return undefined
      if (done) break
      await this.#projector.fold(span, value)
      events += value.length
      through = value.at(-1)!.position
    }
    return through
  }

  async #retryParked(): Promise<void> {
    const { pool, fence } = this.#options
    for (const { consumer, stream } of await takeRetryRequests(pool, fence)) {
      const track = [...this.#live.values()].find(({ table }) => table.name === consumer)
      const unparked = track && this.#exclusively(() => this.#projector.unpark(track, stream))
      // Requests are taken once: a stream that fails again must not use up those of the others.
      await unparked?.catch((error: unknown) =>
        this.#options.log.warn({ consumer, stream, error }, 'stays parked'),
      )
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pollEveryMs)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

function leastPosition(tracks: readonly ProjectionCursor[]): number {
  return Math.min(...tracks.map(({ position }) => position))
}

/** The generation that is to replace the published one, if any. */
function wantedGeneration(model: ReadModel, published: Published | undefined): number | undefined {
  if (!published) return undefined
  const { version, generation, wanted } = published
  // A newer version runs beside this one: its table is not rebuilt backwards.
  if (version > model.version) return undefined
  const next = version === model.version ? wanted : generation + 1
  return next === generation ? undefined : next
}
