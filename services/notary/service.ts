import { leavesAhead } from '../../infra/event-store/embedded/leaves-ahead.ts'
import { logSigners } from '../../infra/postgres/transparency/log-keys.ts'
import { TreeStore } from '../../infra/postgres/transparency/tree-store.ts'
import type { Subscription } from '../../packages/kernel/ports.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { leading } from '../composition/leading.ts'
import { startNotary, type NotaryOptions } from './main.ts'
import { followWitnesses } from './witnesses.ts'

/** Notarises the log while this process leads, and stands by while another does. */
export function runNotary(runtime: Runtime): Subscription {
  // Commitments are to stored, sealed events: they stay valid when a person is erased.
  const { postgres, configuration, dependencies, asStored: store, turns } = runtime
  const { pool, url } = postgres
  const { log, vault } = dependencies
  const giveWay = turns.lane()
  return leading(runtime, 'notary', async ({ fence }) => {
    const signers = await logSigners({ pool, vault, fence, baseUrl: configuration.baseUrl })
    const trees = new TreeStore(pool, fence)
    const isEmbedded = configuration.eventStoreUrl === undefined
    const ahead: Partial<NotaryOptions> = isEmbedded
      ? { leavesAhead: (part) => leavesAhead({ url }, part) }
      : {}
    const notary = await startNotary({ store, log, signers, trees, giveWay, ...ahead })
    const witnesses = followWitnesses({ witnesses: configuration.witnesses, pool, fence, log })
    return { close: async () => void (await Promise.all([notary.close(), witnesses.close()])) }
  })
}
