import type { GiveWay } from '../../infra/event-loop/turns.ts'
import type { LogSigners } from '../../infra/postgres/transparency/log-keys.ts'
import type {
  KeptCheckpoint,
  NewLeaf,
  OpenTree,
  TreeStore,
} from '../../infra/postgres/transparency/tree-store.ts'
import { checkpointText } from '../../infra/transparency/checkpoint.ts'
import { commitmentOf } from '../../infra/transparency/commitment.ts'
import { leafHash } from '../../infra/transparency/hashing.ts'
import { writeNote, type NoteSigner } from '../../infra/transparency/signed-note.ts'
import type { EventStore, Log, Subscription } from '../../packages/kernel/ports.ts'

const batchSize = 5_000
/** While events come, there is a checkpoint at least every second. */
const everyMs = 500

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
  const { store, trees, log, giveWay } = options
  let open: OpenTree | undefined = await trees.open()
  return store.subscribe({
    after: open.position,
    batchSize,
    everyMs,
    onError: (error) => log.warn({ error }, 'notarising is tried again'),
    async handle(events) {
      const { tree, position } = (open ??= await trees.open())
      const news = events.filter((event) => event.position > position)
      if (news.length === 0) return
      // A failed write may have been committed: the tree is read again before the next try.
      open = undefined
      const leaves: NewLeaf[] = []
      for (const event of news) {
        await giveWay?.()
        const commitment = commitmentOf(event)
        tree.add(leafHash(commitment))
        leaves.push({ commitment, position: event.position })
      }
      const through = leaves.at(-1)!.position
      const checkpoint = signed(tree, through, await options.signers(position, through))
      await trees.grow({ leaves, tiles: tree.takeTiles(), checkpoint })
      open = { tree, position: checkpoint.position }
    },
  })
}

function signed(tree: OpenTree['tree'], position: number, signers: readonly NoteSigner[]): KeptCheckpoint {
  const { size } = tree
  const root = tree.root()
  const text = checkpointText({ origin: signers[0]!.name, size, root })
  return {
    size,
    root,
    position,
    note: writeNote({ text, signatures: signers.map((signer) => signer.sign(text)) }),
  }
}
