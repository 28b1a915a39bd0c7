import { EventEmitter, once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { GiveWay } from '../../infra/event-loop/turns.ts'
import type { LogSigners } from '../../infra/postgres/transparency/log-keys.ts'
import type { OpenTree, TreeStore } from '../../infra/postgres/transparency/tree-store.ts'
import { checkpointText, type Checkpoint } from '../../infra/transparency/checkpoint.ts'
import { hashBytes } from '../../infra/transparency/hashing.ts'
import { Leaves, leavesBehind, type LogPart, type NewLeaves } from '../../infra/transparency/leaves.ts'
import type { GrowingTree } from '../../infra/transparency/tree.ts'
import { writeNote, type NoteSigner } from '../../infra/transparency/signed-note.ts'
import type { EventStore, Log, StoredEvent, Subscription } from '../../packages/kernel/ports.ts'

const batchSize = 5_000
/** Worked on without a look at whose turn it is: less than half a millisecond of work. */
const pieceSize = { events: 20, leaves: 200 }
/** Often enough to find new events in the memory that all consumers of a process share. */
const gatherEveryMs = 50
/** While events come, there is a checkpoint at least every second. */
const signEveryMs = 500
const [retryMsLeast, retryMsMost] = [100, 5_000]

export interface NotaryOptions {
  readonly store: EventStore
  readonly trees: TreeStore
  readonly signers: LogSigners
  readonly log: Log
  readonly giveWay?: GiveWay
  /** Makes leaves in other threads, in order. It may end before the part does, even at once. */
  readonly leavesAhead?: (part: LogPart) => AsyncIterable<NewLeaves>
}

/**
 * Adds a leaf to the tree for each event of the log, and signs its root. It follows the log like any
 * consumer; tiles, leaves and checkpoint are written together, twice a second while events come, so that
 * everything signed can be proved.
 */
export async function startNotary(options: NotaryOptions): Promise<Subscription> {
  const { store, trees, log } = options
  const onError = (error: unknown) => log.warn({ error }, 'notarising is tried again')
  const notary = new Notary(options, await trees.open())
  const stop = new AbortController()
  const { signal } = stop
  const handle = (events: readonly StoredEvent[]) => notary.gather(events)
  const following = notary
    .catchUp(signal)
    .catch(onError)
    .then(async () => {
      if (signal.aborted) return
      const after = notary.position
      const subscription = store.subscribe({ after, batchSize, everyMs: gatherEveryMs, onError, handle })
      await notary.signRegularly(signal, onError)
      await subscription.close()
    })
  const close = async () => {
    stop.abort()
    await following
  }
  return { close }
}

class Notary {
  readonly #options: NotaryOptions
  /** `undefined` while it is written: a failed write may have been committed, so it is read again. */
  #open: OpenTree | undefined
  readonly #news = new EventEmitter()
  #gathered = new Leaves()
  /** What was gathered before that, until it is written. */
  #unwritten: NewLeaves | undefined
  /** All events up to here have their leaves. */
  position: number

  constructor(options: NotaryOptions, open: OpenTree) {
    this.#options = options
    this.#open = open
    this.position = open.position
  }

  /** Makes the leaves of new events, which are signed later. */
  async gather(events: readonly StoredEvent[]): Promise<void> {
    try {
      // What was gathered may be taken to be written between two pieces, and a batch may come again.
      await this.#inPieces(events, (event) => {
        if (event.position <= this.position) return
        this.#gathered.add(event)
        this.position = event.position
      })
    } finally {
      this.#news.emit('gathered')
    }
  }

  /** Signs what was gathered, again and again until the signal aborts. */
  async signRegularly(signal: AbortSignal, onError: (error: unknown) => void): Promise<void> {
    let retryMs = retryMsLeast
    while (!signal.aborted) {
      let waitMs = signEveryMs
      try {
        await this.#sign(signal)
        retryMs = retryMsLeast
      } catch (error) {
        if (signal.aborted) return
        onError(error)
        waitMs = retryMs
        retryMs = Math.min(2 * retryMs, retryMsMost)
      }
      await pause(waitMs, undefined, { signal }).catch(() => undefined)
    }
  }

  /** At once after a quiet time. */
  async #sign(signal: AbortSignal): Promise<void> {
    const gathered = (this.#unwritten ??= await this.#nextGathered(signal))
    const open = (this.#open ??= await this.#options.trees.open())
    const leaves = leavesBehind(gathered, open.position)
    if (leaves.positions.length > 0) {
      this.#open = undefined
      await this.#add(leaves, open.tree)
      this.#open = await this.#write(open, leaves)
    }
    this.#unwritten = undefined
  }

  /** Rejects when the signal aborts before there is anything. */
  async #nextGathered(signal: AbortSignal): Promise<NewLeaves> {
    if (this.#gathered.positions.length === 0) await once(this.#news, 'gathered', { signal })
    const gathered = this.#gathered
    this.#gathered = new Leaves()
    return gathered
  }

  /** What is in the log already is read at one go. While leaves are written, those after them are added. */
  async catchUp(signal: AbortSignal): Promise<void> {
    const head = await this.#options.store.head()
    const open = this.#open
    if (!open || open.position >= head) return
    this.#open = undefined
    let written = Promise.resolve(open)
    for await (const leaves of this.#leavesThrough(head, open.position)) {
      await this.#add(leaves, open.tree)
      written = this.#write(await written, leaves)
      // Awaited before the next write, and at the end.
      written.catch(() => undefined)
      if (signal.aborted) break
    }
    this.#open = await written
  }

  /** From the first event behind a position to the head, if not some more that are new. */
  async *#leavesThrough(head: number, after: number): AsyncGenerator<NewLeaves> {
    let position = after
    for await (const leaves of this.#options.leavesAhead?.({ after, through: head }) ?? []) {
      yield leaves
      position = leaves.positions.at(-1)!
    }
    if (position >= head) return
    let leaves = new Leaves()
    for await (const events of this.#options.store.readOn(position)) {
      await this.#inPieces(events, (event) => leaves.add(event))
      if (leaves.positions.length >= batchSize) {
        yield leaves
        leaves = new Leaves()
      }
      if (events.at(-1)!.position >= head) break
    }
    if (leaves.positions.length > 0) yield leaves
  }

  async #inPieces(events: readonly StoredEvent[], add: (event: StoredEvent) => void): Promise<void> {
    for (const [place, event] of events.entries()) {
      if (place % pieceSize.events === 0) await this.#options.giveWay?.()
      add(event)
    }
  }

  async #add({ positions, commitments }: NewLeaves, tree: GrowingTree): Promise<void> {
    for (let place = 0; place < positions.length; place++) {
      if (place % pieceSize.leaves === 0) await this.#options.giveWay?.()
      tree.addEntry(commitments.subarray(place * hashBytes, (place + 1) * hashBytes))
    }
  }

  /** The tree is taken as it is now, and may grow meanwhile. */
  async #write({ tree, position }: OpenTree, leaves: NewLeaves): Promise<OpenTree> {
    const { trees, signers } = this.#options
    const through = leaves.positions.at(-1)!
    const [size, root, tiles] = [tree.size, tree.root(), tree.takeTiles()]
    const note = noteOver({ size, root }, await signers(position, through))
    await trees.grow({ leaves, tiles, checkpoint: { size, root, note, position: through } })
    this.position = Math.max(this.position, through)
    return { tree, position: through }
  }
}

function noteOver({ size, root }: Pick<Checkpoint, 'size' | 'root'>, signers: readonly NoteSigner[]): string {
  const text = checkpointText({ origin: signers[0]!.name, size, root })
  return writeNote({ text, signatures: signers.map((signer) => signer.sign(text)) })
}
