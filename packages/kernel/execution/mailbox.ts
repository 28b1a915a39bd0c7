import { appendUntilKnown } from './append-until-known.ts'
import { decide, evolve, streamName, type AnyDecider } from '../decider.ts'
import { contextOf, metadataOf, type Envelope } from '../envelope.ts'
import type { ExecutorOptions, KnownState, Outcome, PendingCommand, Remembered } from './options.ts'
import { foldStored, snapshotOf } from '../history.ts'
import { ownerKind, ownerOf, owns, type OwnerKind } from '../owner.ts'
import { AppendTooLargeError, noStream, VersionConflictError, type NewEvent } from '../ports.ts'

/** After this many lost races a command is refused; docs/decisions/0009 says why eight. */
const decisionsMax = 8
/** Rounds after a conflict that begin by reading what others have written. */
const roundsLookedFirst = 100
const batchesPerWriteMost = 500
const batchesMax = 10_000
/** Of a decider that names nobody else. */
const merchants: readonly OwnerKind[] = ['merchant']

interface QueuedBatch {
  readonly commands: readonly PendingCommand[]
  readonly resolve: (outcome: Outcome<unknown>) => void
  readonly reject: (error: unknown) => void
  decisions: number
}

interface Decided {
  readonly batch: QueuedBatch
  readonly state: unknown
  readonly revision: number
  readonly appended: number
}

/** The commands of one stream, decided one after the other and written together: group commit. */
export class Mailbox {
  busy = false
  readonly #decider: AnyDecider
  readonly #id: string
  readonly #stream: string
  readonly #options: ExecutorOptions
  readonly #batches: QueuedBatch[] = []
  #known: KnownState | undefined
  #snapshotRevision = noStream
  #saving = false
  #roundsToLookFirst = 0
  #batchesPerWrite = batchesPerWriteMost

  constructor(decider: AnyDecider, id: string, options: ExecutorOptions) {
    this.#decider = decider
    this.#id = id
    this.#stream = streamName(decider.category, id)
    this.#options = options
  }

  post(commands: readonly PendingCommand[]): Promise<Outcome<unknown>> {
    if (this.#batches.length >= batchesMax)
      return Promise.reject(this.#options.refuse.overloaded(this.#stream))
    return new Promise((resolve, reject) => {
      this.#batches.push({ commands, resolve, reject, decisions: 0 })
      if (!this.busy) void this.#work()
    })
  }

  /**
   * A copy, because the next command modifies the cached state before it is written. A stream without events
   * has no owner yet, so nothing about ownership is cached.
   */
  remembered(): Remembered | undefined {
    if (this.busy || !this.#known?.owner) return undefined
    const { state, revision, position, owner } = this.#known
    return { state, revision, position, owner }
  }

  /** The cached state, also where the stream has no events. It may be about to be written. */
  get lastSeen(): unknown {
    return this.#known?.state
  }

  /** Drops the cached state; what is being decided is decided. */
  forget(): void {
    this.#known = undefined
  }

  async #work(): Promise<void> {
    this.busy = true
    while (this.#batches.length > 0) {
      const batches = this.#batches.splice(0, this.#batchesPerWrite)
      try {
        const known = (this.#known ??= await this.#load(batches))
        if (this.#roundsToLookFirst > 0) await this.#catchUp(known)
        const learning = this.#learnTime(batches)
        if (learning) await learning
        await this.#write(batches, known)
        known.isRemembered = true
        this.#batchesPerWrite = Math.min(batchesPerWriteMost, 2 * this.#batchesPerWrite)
      } catch (error) {
        this.#known = undefined
        this.#fail(batches, error)
      }
    }
    this.busy = false
  }

  async #load(batches: readonly QueuedBatch[]): Promise<KnownState> {
    const { store, snapshots } = this.#options
    const isNew = batches.every(({ commands: [first], decisions }) => {
      return decisions === 0 && (first?.envelope.isNew || first?.envelope.mustBeNew)
    })
    if (isNew)
      return {
        state: this.#decider.initial(),
        revision: noStream,
        position: undefined,
        owner: undefined,
        isRemembered: false,
      }
    const snapshot = await snapshotOf(snapshots, this.#decider, this.#stream)
    this.#snapshotRevision = snapshot?.revision ?? noStream
    const [events, [first]] = await Promise.all([
      store.readStream(this.#stream, this.#snapshotRevision + 1),
      snapshot ? store.readStream(this.#stream, 0, 1) : [],
    ])
    const state = foldStored(this.#decider, events, snapshot?.state ?? this.#decider.initial())
    const begun = first ?? events[0]
    const owner = begun && ownerOf(begun.metadata)
    const last = events.at(-1)
    const revision = last?.revision ?? this.#snapshotRevision
    return { state, revision, position: last?.position, owner, isRemembered: false }
  }

  /** Where another process writes too, decisions on cached state would mostly be wasted. */
  async #catchUp(known: KnownState): Promise<void> {
    this.#roundsToLookFirst--
    const events = await this.#options.store.readStream(this.#stream, known.revision + 1)
    known.state = foldStored(this.#decider, events, known.state)
    known.revision += events.length
    known.position = events.at(-1)?.position ?? known.position
    if (events[0]?.revision === 0) known.owner = ownerOf(events[0].metadata)
    known.isRemembered = false
  }

  /** Decides as many batches as it can and appends the results. Nothing is answered before it is written. */
  async #write(batches: readonly QueuedBatch[], known: KnownState): Promise<void> {
    const before = known.revision
    const events: NewEvent[] = []
    const decided: Decided[] = []
    const refused: [QueuedBatch, unknown][] = []
    for (const [index, batch] of batches.entries()) {
      const refusal = this.#decide(batch, known, events)
      const { state, revision } = known
      if (!refusal) decided.push({ batch, state, revision, appended: revision - before })
      else refused.push([batch, refusal.error])
      // A batch refused halfway has already modified the state: write the others, then read again.
      if (refusal?.halfWay) {
        this.#known = undefined
        this.#batches.unshift(...batches.slice(index + 1))
        break
      }
    }
    // An append proves that nobody else has written. A command that decides nothing, or refuses, must check.
    if (events.length === 0 && known.isRemembered && (await this.#isBehind(before)))
      return this.#again(batches)
    const position =
      events.length > 0
        ? (await appendUntilKnown(this.#options, this.#stream, { expected: before, events })).position
        : 0
    if (position > 0) known.position = position
    let through = 0
    for (const { batch, state, revision, appended } of decided) {
      const own = appended - through
      through = appended
      batch.resolve({ id: this.#id, state, revision, appended: own, position: own > 0 ? position : 0 })
    }
    for (const [batch, error] of refused) batch.reject(error)
    this.#keepSnapshot()
  }

  async #isBehind(revision: number): Promise<boolean> {
    return (await this.#options.store.readStream(this.#stream, revision + 1, 1)).length > 0
  }

  /** Decides these batches first, on what is read then. */
  #again(batches: readonly QueuedBatch[]): void {
    this.#known = undefined
    this.#batches.unshift(...batches.filter((batch) => !this.#batches.includes(batch)))
  }

  #decide(batch: QueuedBatch, known: KnownState, events: NewEvent[]) {
    const start = events.length
    const revision = known.revision
    try {
      for (const { command, envelope } of batch.commands) {
        this.#admit(envelope, known)
        const context = contextOf(this.#id, envelope, this.#now(envelope))
        for (const event of decide(this.#decider, command, known.state, context)) {
          const version = this.#versionOf(event.type)
          const stamp = { version, now: context.now, salt: this.#options.newSalt() }
          const metadata = metadataOf(envelope, stamp)
          known.state = evolve(this.#decider, known.state, event, metadata)
          known.revision++
          known.owner ??= ownerOf(envelope)
          events.push({ id: this.#options.newId(), type: event.type, data: event.data, metadata })
        }
      }
      return undefined
    } catch (error) {
      const halfWay = events.length > start
      events.length = start
      known.revision = revision
      return { error, halfWay }
    }
  }

  /** Clocks moved by others are known before anything is decided. Usually there is nothing to wait for. */
  #learnTime([first]: readonly QueuedBatch[]): Promise<void> | undefined {
    const envelope = first?.commands[0]?.envelope
    return envelope && this.#decider.time !== 'real' ? this.#options.knowsTime?.(envelope) : undefined
  }

  #now(envelope: Envelope): Date {
    return this.#options.clock(this.#decider.time === 'real' ? undefined : envelope)
  }

  /** Nobody reaches another owner's or the other environment's stream, whatever id a request names. */
  #admit(envelope: Envelope, { revision, owner }: KnownState): void {
    const { mustExist, mustBeNew, ifRevision } = envelope
    const kind = ownerKind(envelope)
    const { category, owners = merchants } = this.#decider
    if (!owners.includes(kind)) throw new Error(`no stream ${category} belongs to one of the kind ${kind}`)
    const isOthers = owner && !owns(owner, envelope)
    if (isOthers || (mustExist && revision === noStream)) throw this.#options.refuse.notFound(this.#stream)
    if (mustBeNew && revision !== noStream) throw this.#options.refuse.changedMeanwhile(this.#stream)
    if (ifRevision !== undefined && revision !== ifRevision)
      throw this.#options.refuse.otherRevision(this.#stream)
  }

  #versionOf(type: string): number {
    const version = this.#decider.events[type]?.version
    if (version === undefined) throw new Error(`${this.#decider.category} does not declare its event ${type}`)
    return version
  }

  /**
   * After a conflict the batches are decided again on top of the other process's events; other failures are
   * returned.
   */
  #fail(batches: readonly QueuedBatch[], error: unknown): void {
    if (error instanceof AppendTooLargeError && batches.length > 1) {
      this.#batchesPerWrite = Math.ceil(batches.length / 2)
      return this.#again(batches)
    }
    if (error instanceof VersionConflictError) this.#roundsToLookFirst = roundsLookedFirst
    const again: QueuedBatch[] = []
    for (const batch of batches) {
      if (this.#batches.includes(batch)) continue
      const retry = batch.commands.every(({ envelope }) => envelope.onConflict !== 'refuse')
      if (!(error instanceof VersionConflictError)) batch.reject(error)
      else if (retry && ++batch.decisions < decisionsMax) again.push(batch)
      else batch.reject(this.#options.refuse.changedMeanwhile(this.#stream))
    }
    this.#batches.unshift(...again)
  }

  #keepSnapshot(): void {
    const { snapshot } = this.#decider
    if (!snapshot || !this.#known || this.#saving) return
    const { state, revision } = this.#known
    if (revision - this.#snapshotRevision < snapshot.every(state)) return
    this.#saving = true
    this.#options.snapshots
      .save(this.#stream, snapshot.version, { revision, state })
      .then(() => (this.#snapshotRevision = revision))
      .catch((error: unknown) =>
        this.#options.log.warn({ stream: this.#stream, error }, 'snapshot not kept, the next one will be'),
      )
      .finally(() => (this.#saving = false))
  }
}
