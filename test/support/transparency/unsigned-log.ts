import type { Test } from 'tap'
import { readConfiguration } from '../../../infra/configuration.ts'
import { logSigners } from '../../../infra/postgres/transparency/log-keys.ts'
import { lastCheckpoint, type TreeStore } from '../../../infra/postgres/transparency/tree-store.ts'
import { commitmentOf } from '../../../infra/transparency/commitment.ts'
import { leafHash } from '../../../infra/transparency/hashing.ts'
import { GrowingTree } from '../../../infra/transparency/tree.ts'
import type { EventStore } from '../../../packages/kernel/ports.ts'
import { openRuntime } from '../../../services/composition/dependencies.ts'
import { startNotary, type NotaryOptions } from '../../../services/notary/main.ts'
import { eventually } from '../eventually.ts'
import { temporaryDirectory } from '../postgres.ts'

/** The log of a database, and a notary for it that has not begun. */
export async function unsignedLog(t: Test, url: string) {
  const settings = { POSTGRES_URL: url, DATA_DIR: temporaryDirectory(t), LOG_LEVEL: 'silent' }
  const runtime = await openRuntime(readConfiguration(settings))
  t.teardown(runtime.close)
  const { asStored: store, dependencies, configuration } = runtime
  const { pool } = runtime.postgres
  const { vault, log } = dependencies
  const signers = await logSigners({ pool, vault, baseUrl: configuration.baseUrl })
  const notarise = (trees: TreeStore, options: Partial<NotaryOptions> = {}) =>
    startNotary({ store, log, signers, trees, ...options })
  const signed = (size: number) =>
    eventually(
      () => lastCheckpoint(pool),
      (checkpoint) => checkpoint?.size === size,
    )
  return { pool, store, notarise, signed }
}

/** The tree over a log as it grows, after each event. */
export async function* treesOver(store: EventStore): AsyncGenerator<GrowingTree, void> {
  const tree = new GrowingTree()
  for await (const page of store.readOn(0))
    for (const event of page) {
      tree.add(leafHash(commitmentOf(event)))
      yield tree
    }
}

export async function rootOver(store: EventStore): Promise<Buffer> {
  let last = new GrowingTree()
  for await (const tree of treesOver(store)) last = tree
  return last.root()
}
