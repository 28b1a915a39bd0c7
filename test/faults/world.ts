import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfiguration } from '../../infra/configuration.ts'
import { bookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import { firstMerchant } from '../../services/composition/first-merchant.ts'
import { openRuntime, type Runtime } from '../../services/composition/dependencies.ts'
import { ServiceApart } from '../support/processes/service-apart.ts'
import { watchLeaders } from './audit.ts'
import type { Ending } from '../support/processes/ending.ts'
import {
  openBroker,
  openEventStoreDb,
  openPostgres,
  scratch,
  type BrokerEngine,
  type HistoryEngine,
  type PostgresEngine,
} from './engines.ts'
import { Fleet, type FleetOptions } from './fleet.ts'
import { quickRecipients } from '../support/load/load-requests.ts'
import { Load, type LoadMerchant } from '../support/load/load.ts'
import { Prober } from './prober.ts'
import { FaultyProxy } from './proxy.ts'
import { openSink, type Sink } from './sink.ts'
import { Transfers } from './transfers.ts'

/** A merchant's webhook endpoint as it was asked for. */
export interface Hook {
  /** The last part of its URL. */
  readonly name: string
  readonly merchant: string
  /** `*` or `payout.*`. */
  readonly pattern: string
}

/** The whole service apart on its engines, with a proxy before each, under load. */
export interface World {
  readonly postgres: PostgresEngine
  /** Left out: the event log is on Postgres. */
  readonly history?: HistoryEngine
  readonly broker: BrokerEngine
  /** The operators have a database of their own, which nobody kills. */
  readonly operators: { readonly pool: PostgresEngine['pool']; readonly proxy: FaultyProxy }
  readonly fleet: Fleet
  readonly load: Load
  readonly prober: Prober
  readonly sink: Sink
  readonly transfers: Transfers
  readonly hooks: readonly Hook[]
}

export interface WorldOptions {
  readonly random: () => number
  /** Events on EventStoreDB and not on Postgres. */
  readonly isOnEventStoreDb?: boolean
  readonly files?: FleetOptions['files']
}

/** One book that many write to, and some that have one writer each. */
const servers = [4, 1, 1, 1, 1, 1]
/** The hot book is never empty. */
const hotGrant = 500_000_000
const loose = { RATE_LIMIT: 'off', EGRESS_ALLOW: '127.0.0.0/8', LOG_LEVEL: 'silent', PORT: '0' }

export async function openWorld(ending: Ending, options: WorldOptions): Promise<World> {
  const { random, files, isOnEventStoreDb = false } = options
  const [postgres, ledgerOfOperators, broker, sink] = await Promise.all([
    openPostgres(ending),
    openPostgres(ending),
    openBroker(ending),
    openSink(ending),
  ])
  const dataDirectory = scratch(ending)
  const history = isOnEventStoreDb ? await openEventStoreDb(ending) : undefined
  const settings = {
    ...loose,
    DATA_DIR: dataDirectory,
    POSTGRES_URL: postgres.url,
    ...(history && { EVENTSTORE_URL: history.url }),
  }
  const runtime = await openRuntime(readConfiguration(settings))
  ending.teardown(() => runtime.close())
  const merchants = await register(runtime)
  const transfers = new Transfers(
    runtime,
    merchants.map(({ id }) => id),
  )
  await watchLeaders(postgres.pool)
  const rail = await FaultyProxy.listen(ending, { port: 0 })
  const places = { ...settings, KAFKA_BROKERS: broker.address, SANDBOX_URL: `http://127.0.0.1:${rail.port}` }
  const sandbox = new ServiceApart(ending, 'sandbox', { ...settings, POSTGRES_URL: ledgerOfOperators.url })
  rail.lead({ host: '127.0.0.1', port: await sandbox.port() })

  const environment = { ...places }
  const fleet = new Fleet(ending, { environment, postgresUrl: postgres.url, ...(files && { files }) })
  await fleet.start()
  const hooks = await addHooks(merchants, fleet.addresses()[0]!, sink)
  const load = new Load(ending, {
    addresses: fleet.addresses,
    merchants,
    random,
    mix: { payouts: 0.6, payments: 0.3, refunds: 0 },
    recipients: quickRecipients,
    payers: ['0001'],
    betweenRequestsMs: 20,
  })
  const prober = new Prober(ending, { addresses: fleet.addresses, key: merchants[1]!.key })
  const operators = { pool: ledgerOfOperators.pool, proxy: rail }
  const engines = { postgres, ...(history && { history }), broker, operators }
  return { ...engines, fleet, load, prober, sink, transfers, hooks }
}

/** Merchants with their keys and play money, before any service runs. */
async function register(runtime: Runtime): Promise<readonly LoadMerchant[]> {
  const { dependencies, configuration } = runtime
  const merchants: LoadMerchant[] = []
  for (const [number, count] of servers.entries()) {
    const directory = join(configuration.dataDirectory, `merchant-${number}`)
    mkdirSync(directory)
    // An e-mail address registers once.
    const owner = { owner_email: `owner-${number}@example.com` }
    writeFileSync(join(directory, 'credentials.json'), JSON.stringify(owner))
    const { merchant_id: id, sandbox_key: key } = await firstMerchant(runtime, directory)
    merchants.push({ id, key, servers: count })
  }
  const { id } = merchants[0]!
  const subject = { type: 'topup', id: dependencies.newId() }
  const data = { template: 'sandbox.topup', subject, amount: hotGrant } as const
  const envelope = { merchant: id, livemode: false, actor: 'test', correlation: dependencies.newId() }
  await dependencies.executor.send(book, bookId(id, false, 'XOF'), { type: 'PostEntry', data }, envelope)
  return merchants
}

/** Each merchant listens to everything at one endpoint, and to its payouts at another. */
async function addHooks(
  merchants: readonly LoadMerchant[],
  address: string,
  sink: Sink,
): Promise<readonly Hook[]> {
  const hooks = merchants.flatMap(({ id }, number) =>
    ['*', 'payout.*'].map((pattern, index) => ({ name: `hook-${number}-${index}`, merchant: id, pattern })),
  )
  for (const { name, merchant, pattern } of hooks) {
    const { key } = merchants.find(({ id }) => id === merchant)!
    const response = await fetch(`${address}/api/v1/webhook-endpoints`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: `${sink.url}/${name}`, enabled_events: [pattern] }),
    })
    if (response.status !== 201) throw new Error(`no webhook endpoint: ${await response.text()}`)
  }
  return hooks
}
