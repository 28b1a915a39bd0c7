import type { Configuration } from '../../infra/configuration.ts'
import type { Brokers } from '../../infra/event-bus/kafka.ts'
import { kafkaSecurity } from '../../infra/event-bus/kafka-security.ts'
import { openEmbeddedStore } from '../../infra/event-store/embedded/store.ts'
import type { EventStoreDb } from '../../infra/event-store/eventstoredb/store.ts'
import { connectPostgres, type Postgres } from '../../infra/postgres/client/connect.ts'
import { financeViews } from '../../infra/postgres/finance/finance.ts'
import { migrate } from '../../infra/postgres/migrate.ts'
import { publishMissing } from '../../infra/postgres/read-models/publication.ts'
import { masterKeyLoader } from '../../infra/secrets/master-key.ts'
import { openVault } from '../../infra/secrets/vault.ts'
import type { EventStore, Log } from '../../packages/kernel/ports.ts'
import { readModels } from '../../projections/index.ts'
import { tellWaiting } from './alone.ts'
import { assertSameHistory } from './assert-same-history.ts'
import { assertSameMasterKey } from './assert-same-master-key.ts'
import { openingTogether, type Opening } from './opening-together.ts'
import { ownStreams } from './own-streams.ts'

/** The servers that a process works with, which hold one history. */
export interface Engines {
  readonly postgres: Postgres
  readonly store: EventStore
  /** Where the settings name some and this process uses the bus. */
  readonly brokers?: Brokers
}

export interface EngineOptions {
  readonly log: Log
  readonly usesBus: boolean
  readonly ending?: AbortSignal | undefined
}

/** Opens all engines at once; a missing one is one sentence that says what to set. */
export async function openEngines(configuration: Configuration, options: EngineOptions): Promise<Engines> {
  const { postgresUrl: url, dataDirectory, startWaitSeconds: waitSeconds } = configuration
  const { ending } = options
  // It is never away, and would outlive a start that fails while it is being started.
  const embedded = url === undefined ? await connectPostgres({ dataDirectory }) : undefined
  if (ending?.aborted) await embedded?.close()
  return openingTogether({ waitSeconds, ending }, async (opening) => {
    const connecting = opening.open(async () => embedded ?? connectPostgres({ url, dataDirectory }))
    const migrating = connecting.then((postgres) => opening.repeat(() => migrated(postgres, ending)))
    const [postgres, store, brokers] = await Promise.all([
      migrating,
      openData(configuration, { migrating, opening, log: options.log }),
      options.usesBus ? findBrokers(configuration, opening) : undefined,
    ])
    return { postgres, store, ...(brokers && { brokers }) }
  })
}

export function masterKeysOf({ dataDirectory, masterKey }: Configuration) {
  return masterKeyLoader(dataDirectory, masterKey)
}

async function migrated(postgres: Postgres, ending: AbortSignal | undefined): Promise<Postgres> {
  await migrate(postgres, { tell: tellWaiting, ending })
  await publishMissing(postgres.pool, readModels, financeViews)
  return postgres
}

interface OpeningData {
  readonly migrating: Promise<Postgres>
  readonly opening: Opening
  readonly log: Log
}

async function openData(
  configuration: Configuration,
  { migrating, opening, log }: OpeningData,
): Promise<EventStore> {
  const isOnPostgres = configuration.eventStoreUrl === undefined
  const openStore = isOnPostgres
    ? migrating.then(({ url }) => opening.open(() => openEmbeddedStore({ url, onLogWentBack: endProcess })))
    : opening.open(() => openOnServer(configuration, log))
  const [{ pool }, store] = await Promise.all([migrating, openStore])
  await opening.repeat(() => assertSameHistory(pool, store))
  await opening.repeat(() => assertSameMasterKey(store, openVault(masterKeysOf(configuration))))
  return store
}

async function openOnServer(
  { eventStoreUrl, eventStorePrefix: prefix }: Configuration,
  log: Log,
): Promise<EventStoreDb> {
  // Its client takes long to load, so it is loaded only when used.
  const { openEventStoreDb } = await import('../../infra/event-store/eventstoredb/store.ts')
  const onLogWentBack = endProcess
  return openEventStoreDb({ url: eventStoreUrl!, prefix, log, onLogWentBack, ...ownStreams })
}

async function findBrokers(
  { kafkaBrokers: brokers, kafkaAccess, instance }: Configuration,
  opening: Opening,
): Promise<Brokers | undefined> {
  if (brokers === undefined) return undefined
  const security = kafkaSecurity(kafkaAccess)
  return opening.open(async () => {
    // Loaded only when used, like the client of EventStoreDB.
    const { openBrokers } = await import('../../infra/event-bus/kafka.ts')
    return openBrokers({ brokers, clientId: `ikw-${instance}`, security })
  })
}

/** Its supervisor restarts it, and it resumes from what is stored. */
function endProcess(error: Error): never {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
