import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../infra/postgres/server/embedded.ts'
import { surviveBrokenConnections } from '../../infra/postgres/client/connect.ts'
import { brokerProcess, killBroker } from '../support/processes/broker-process.ts'
import { eventually } from '../support/eventually.ts'
import { cutOffLive, notReady } from '../support/eventstoredb-peer/failures.ts'
import type { LogRecord } from '../support/eventstoredb-peer/append-rules.ts'
import { EventStoreDbPeer } from '../support/eventstoredb-peer/peer.ts'
import { killPostgres } from '../support/processes/postmaster.ts'
import type { Ending } from '../support/processes/ending.ts'
import { FaultyProxy } from './proxy.ts'

/** A server of PostgreSQL that can be killed, and a proxy before it. */
export interface PostgresEngine {
  /** Through the proxy. */
  readonly url: string
  /** Past the proxy: for the checker. */
  readonly pool: pg.Pool
  readonly proxy: FaultyProxy
  /** As a crash of its machine would end it. Resolves when it is back. */
  crash(): Promise<void>
}

export interface BrokerEngine {
  /** Of the proxy, which is also where the broker tells its clients to go. */
  readonly address: string
  readonly proxy: FaultyProxy
  crash(): Promise<void>
}

/** An event store that is not on Postgres, and a proxy before it. */
export interface HistoryEngine {
  readonly url: string
  readonly proxy: FaultyProxy
  /** What it has stored, past the proxy. */
  events(): readonly LogRecord[]
  /** As the server does with a process that is too busy to take what is new. */
  cutOff(): void
  /** Another node leads; resolves when somebody has been sent there, and back when the first leads again. */
  changeLeader(): Promise<void>
  /** Calls that the other node has carried out. */
  callsElsewhere(): number
  /** Every call is answered that the server is not ready, while something is done. */
  whileNotReady(work: (refused: () => number) => Promise<void>): Promise<void>
}

/** Speaks EventStoreDB over real gRPC and keeps the log in this process. */
export async function openEventStoreDb(ending: Ending): Promise<HistoryEngine> {
  const peer = await EventStoreDbPeer.start()
  ending.teardown(() => peer.stop())
  const proxy = await FaultyProxy.listen(ending, { port: 0 })
  proxy.lead({ host: '127.0.0.1', port: peer.line.port })
  const isOurs = ({ stream }: LogRecord) => !stream.startsWith('$') && !stream.startsWith('history-')
  const events = () => peer.log.records.filter(isOurs)
  const other = await EventStoreDbPeer.start(peer.log)
  ending.teardown(() => other.stop())
  // Whoever comes to it is sent to the leader, also long after the change back.
  other.isLedBy(proxy.port)
  const changeLeader = async () => {
    await lead({ from: peer, to: other, port: other.line.port })
    await lead({ from: other, to: peer, port: proxy.port })
  }
  const callsElsewhere = () => other.reads + other.appends
  const whileNotReady = async (work: (refused: () => number) => Promise<void>) => {
    peer.failCalls(notReady)
    await work(() => peer.callsRefused)
    peer.recover()
  }
  const cutOff = () => peer.failSubscriptions(cutOffLive.code, cutOffLive.details)
  const url = `esdb://127.0.0.1:${proxy.port}?tls=false`
  return { url, proxy, events, cutOff, changeLeader, callsElsewhere, whileNotReady }
}

interface Change {
  readonly from: EventStoreDbPeer
  readonly to: EventStoreDbPeer
  /** Where clients find the new leader. */
  readonly port: number
}

/** Resolves when somebody has written to the other node, which nobody does to one that sends them away. */
async function lead({ from, to, port }: Change): Promise<void> {
  to.recover()
  from.isLedBy(port)
  const before = to.appends
  await eventually(
    async () => to.appends,
    (appends) => appends > before,
  )
}

/** A directory that is gone at the end. */
export function scratch(ending: Ending): string {
  const directory = mkdtempSync(join(tmpdir(), 'ikw-faults-'))
  ending.teardown(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export async function openPostgres(ending: Ending): Promise<PostgresEngine> {
  const directory = scratch(ending)
  const sockets = scratch(ending)
  let server = await startEmbeddedPostgres({ directory })
  ending.teardown(() => server.stop())
  const direct = new URL(server.url)
  const { searchParams } = direct
  const name = `.s.PGSQL.${searchParams.get('port')}`
  const proxy = await FaultyProxy.listen(ending, { path: join(sockets, name) })
  proxy.lead({ path: join(searchParams.get('host')!, name) })
  const pool = new pg.Pool({ connectionString: server.url, max: 4 })
  surviveBrokenConnections(pool)
  ending.teardown(() => pool.end())
  const through = new URL(direct)
  through.searchParams.set('host', sockets)
  const crash = async () => {
    if (!killPostgres(directory)) throw new Error('there was no server to be killed')
    server = await startEmbeddedPostgres({ directory })
  }
  return { url: through.href, pool, proxy, crash }
}

export async function openBroker(ending: Ending): Promise<BrokerEngine> {
  const proxy = await FaultyProxy.listen(ending, { port: 0 })
  const advertised = `127.0.0.1:${proxy.port}`
  const directory = scratch(ending)
  let broker = await brokerProcess({ directory, port: 0, advertised })
  ending.teardown(() => broker.stop())
  const port = Number(broker.address.split(':')[1])
  proxy.lead({ host: '127.0.0.1', port })
  const crash = async () => {
    await killBroker(broker)
    broker = await brokerProcess({ directory, port, advertised })
  }
  return { address: advertised, proxy, crash }
}
