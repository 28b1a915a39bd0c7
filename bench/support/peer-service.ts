import { createPeerTables, seedPeer } from '../peers/statements.ts'
import { peerPool, type Bench } from './bench.ts'
import { endChild, startProgram } from './children.ts'
import type { BenchMerchant } from './merchants.ts'

export interface PeerService {
  readonly port: number
  close(): Promise<void>
}

/** The plain express and pg service, on a database of its own with this many payouts. */
export async function startPeerService(
  bench: Bench,
  name: string,
  { merchants, payouts }: { readonly merchants: readonly BenchMerchant[]; readonly payouts: number },
): Promise<PeerService> {
  const database = await bench.database(name)
  const pool = peerPool(database, 1)
  await createPeerTables(pool)
  await seedPeer(pool, merchants, payouts)
  await pool.end()
  const { child, port } = await startProgram('../peers/service', {}, { given: [database.url] })
  const close = async () => {
    await endChild(child)
    await database.drop()
  }
  return { port, close }
}
