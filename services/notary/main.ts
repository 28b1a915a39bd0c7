import type { GiveWay } from '../../infra/event-loop/turns.ts'
import type { LogSigners } from '../../infra/postgres/transparency/log-keys.ts'
import type { NewLeaves, OpenTree, TreeStore } from '../../infra/postgres/transparency/tree-store.ts'
import { checkpointText, type Checkpoint } from '../../infra/transparency/checkpoint.ts'
import { commitInto } from '../../infra/transparency/commitment.ts'
import { hashBytes } from '../../infra/transparency/hashing.ts'
import type { GrowingTree } from '../../infra/transparency/tree.ts'
import { writeNote, type NoteSigner } from '../../infra/transparency/signed-note.ts'
import type { EventStore, Log, StoredEvent, Subscription } from '../../packages/kernel/ports.ts'

const batchSize = 5_000
/** Added without a look at whose turn it is: less than half a millisecond of work. */
const pieceSize = 20
/** While events come, there is a checkpoint at least every second. */
const everyMs = 500

const leavesAtFirst = 256

export interface NotaryOptions {
  readonly store: EventStore
  readonly trees: TreeStore
  readonly signers: LogSigners
  readonly log: Log
  readonly giveWay?: GiveWay
}

/**
 * Adds a leaf to the tree for each event of the log, and signs its root. It follows the log like any
 * consumer; tiles, leaves and checkpoint are written together, so everything signed can be proved.
 */
export async function startNotary(options: NotaryOptions): Promise<Subscription> {
  const { store, trees, log } = options
  const onError = (error: unknown) => log.warn({ error }, 'notarising is tried again')
  const notary = new Notary(options, await trees.open())
  const stop = new AbortController()
  const following = notary
    .catchUp(stop.signal)
    .catch(onError)
    .then(() => {
      if (stop.signal.aborted) return undefined
      const handle = (events: readonly StoredEvent[]) => notary.sign(events)
      return store.subscribe({ after: notary.position, batchSize, everyMs, onError, handle })
    })
  const close = async () => {
    stop.abort()
    await (await following)?.close()
  }
  return { close }
}

class Notary {
  readonly #options: NotaryOptions
  /** `undefined` while it is written: a failed write may have been committed, so it is read again. */
  #open: OpenTree | undefined
  /** All events up to here are signed. */
  position: number

  constructor(options: NotaryOptions, open: OpenTree) {
    this.#options = options
    this.#open = open
    this.position = open.position
  }

  async sign(events: readonly StoredEvent[]): Promise<void> {
    const { trees, giveWay } = this.#options
    const open = (this.#open ??= await trees.open())
    const news = events.filter(({ position }) => position > open.position)
    if (news.length === 0) return
    this.#open = undefined
    const leaves = new Leaves(open.tree)
    for (const [place, event] of news.entries()) {
      if (place % pieceSize === 0) await giveWay?.()
      leaves.add(event)
    }
    this.#open = await this.#write(open, leaves)
  }

  /** What is in the log already is read at one go. While leaves are written, those after them are added. */
  async catchUp(signal: AbortSignal): Promise<void> {
    const { store, giveWay } = this.#options
    const head = await store.head()
    const open = this.#open
    if (!open || open.position >= head) return
    this.#open = undefined
    let written = Promise.resolve(open)
    let leaves = new Leaves(open.tree)
    for await (const events of store.readOn(open.position)) {
      for (const [place, event] of events.entries()) {
        if (place % pieceSize === 0) await giveWay?.()
        leaves.add(event)
      }
      if (leaves.positions.length >= batchSize) {
        written = this.#write(await written, leaves)
        // Awaited before the next write, and at the end.
        written.catch(() => undefined)
        leaves = new Leaves(open.tree)
      }
      if (signal.aborted || events.at(-1)!.position >= head) break
    }
    if (leaves.positions.length > 0) written = this.#write(await written, leaves)
    this.#open = await written
  }

  /** The tree is taken as it is now, and may grow meanwhile. */
  async #write({ tree, position }: OpenTree, leaves: NewLeaves): Promise<OpenTree> {
    const { trees, signers } = this.#options
    const through = leaves.positions.at(-1)!
    const [size, root, tiles] = [tree.size, tree.root(), tree.takeTiles()]
    const note = noteOver({ size, root }, await signers(position, through))
    await trees.grow({ leaves, tiles, checkpoint: { size, root, note, position: through } })
    this.position = through
    return { tree, position: through }
  }
}

/** What a tree grows by until it is written next. */
class Leaves implements NewLeaves {
  readonly positions: number[] = []
  readonly #tree: GrowingTree
  #bytes = Buffer.allocUnsafe(leavesAtFirst * hashBytes)

  constructor(tree: GrowingTree) {
    this.#tree = tree
  }

  get commitments(): Buffer {
    return this.#bytes.subarray(0, this.positions.length * hashBytes)
  }

  add(event: StoredEvent): void {
    const at = this.positions.length * hashBytes
    if (at === this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], 2 * at)
    commitInto(this.#bytes, at, event)
    this.#tree.addEntry(this.#bytes.subarray(at, at + hashBytes))
    this.positions.push(event.position)
  }
}

function noteOver({ size, root }: Pick<Checkpoint, 'size' | 'root'>, signers: readonly NoteSigner[]): string {
  const text = checkpointText({ origin: signers[0]!.name, size, root })
  return writeNote({ text, signatures: signers.map((signer) => signer.sign(text)) })
}
