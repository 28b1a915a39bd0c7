import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import { v7 } from 'uuid'
import type { Configuration } from '../../infra/configuration.ts'
import { openEmbeddedStore } from '../../infra/event-store/embedded.ts'
import { addressBlocks } from '../../infra/http/addresses.ts'
import { urlFault } from '../../infra/http/egress.ts'
import { fileMailer } from '../../infra/mail/files.ts'
import { smtpMailer } from '../../infra/mail/smtp.ts'
import { financeViews } from '../../infra/postgres/finance.ts'
import { PostgresAnswers } from '../../infra/postgres/answers.ts'
import { connectPostgres, type Postgres } from '../../infra/postgres/connect.ts'
import { migrate } from '../../infra/postgres/migrate.ts'
import { publishMissing } from '../../infra/postgres/publication.ts'
import { postgresPublicEvents } from '../../infra/postgres/public-events.ts'
import { PostgresReadStore } from '../../infra/postgres/read-store.ts'
import { SandboxOperations } from '../../infra/postgres/sandbox-operations.ts'
import { postgresSnapshots } from '../../infra/postgres/snapshots.ts'
import { SimulatedOperators } from '../../infra/rails/sandbox.ts'
import { loadMasterKey } from '../../infra/secrets/master-key.ts'
import { openVault } from '../../infra/secrets/vault.ts'
import { Refusal } from '../../packages/contract/refusals.ts'
import type { House } from '../../packages/contract/routes.ts'
import { Executor } from '../../packages/kernel/execute.ts'
import type { Clock, EventStore, Log, Mailer, Snapshots } from '../../packages/kernel/ports.ts'
import { readModels } from '../../projections/index.ts'
import { Health } from './health.ts'
import { observe } from './observe.ts'

/** The adapters that a process works with, opened from its configuration. */
export interface Opened {
  readonly configuration: Configuration
  readonly postgres: Postgres
  readonly snapshots: Snapshots
  readonly house: House
  readonly health: Health
  close(): Promise<void>
}

const smtpTimeoutMs = 10_000

export interface HouseOptions {
  /** Another clock than the machine's, for tests. */
  readonly clock?: Clock
}

/** Opens every adapter; a dependency that is missing is one sentence that says what to set. */
export async function openHouse(configuration: Configuration, options: HouseOptions = {}): Promise<Opened> {
  const log = openLog(configuration)
  const postgres = await connectPostgres({
    url: configuration.postgresUrl,
    dataDirectory: configuration.dataDirectory,
  })
  const store = await openData(configuration, postgres).catch(async (error: unknown) => {
    await postgres.close()
    throw error
  })
  const snapshots = postgresSnapshots(postgres.pool)
  const mailer = openMailer(configuration)
  const { clock = () => new Date() } = options
  const house = furnish(configuration, { postgres, store, snapshots, mailer, log, clock })
  const health = new Health()
  observe(health, { house, postgres })
  const close = async () => {
    await store.close()
    mailer.close?.()
    await postgres.close()
  }
  return { configuration, postgres, snapshots, house, health, close }
}

async function openData(configuration: Configuration, postgres: Postgres): Promise<EventStore> {
  await migrate(postgres)
  await publishMissing(postgres.pool, readModels, financeViews)
  return openStore(configuration, postgres)
}

interface Adapters {
  readonly postgres: Postgres
  readonly store: EventStore
  readonly snapshots: Snapshots
  readonly mailer: Mailer
  readonly log: Log
  readonly clock: Clock
}

function furnish(
  configuration: Configuration,
  { postgres, store, snapshots, mailer, log, clock }: Adapters,
): House {
  const { pool, knex } = postgres
  const allow = addressBlocks(configuration.egressAllow)
  const rail = new SimulatedOperators({
    book: new SandboxOperations(pool),
    clock,
    redirectBase: `${configuration.baseUrl}/sandbox/pay`,
    onError: (error) => log.warn({ error }, 'simulated operators try again'),
  })
  return {
    executor: new Executor({ store, snapshots, clock, newId: v7, log, pause, refuse: executorRefusals }),
    store,
    reads: new PostgresReadStore(pool, knex, readModels),
    answers: new PostgresAnswers(pool),
    rail,
    sandboxRail: rail,
    publicEvents: postgresPublicEvents(pool),
    vault: openVault({ current: loadMasterKey(configuration.dataDirectory, configuration.masterKey) }),
    mailer,
    clock,
    newId: v7,
    log,
    urlFault: (url, livemode) => urlFault(url, { livemode, allow }),
    baseUrl: configuration.baseUrl,
  }
}

/** How the executor says no. */
const executorRefusals = {
  notFound: () => new Refusal('resource_must_exist'),
  changedMeanwhile: () => new Refusal('resource_must_not_have_changed', { retryAfterSeconds: 1 }),
  overloaded: () => new Refusal('service_must_not_be_overloaded', { retryAfterSeconds: 1 }),
}

async function openStore({ eventStoreUrl }: Configuration, { url }: Postgres): Promise<EventStore> {
  if (eventStoreUrl === undefined) return openEmbeddedStore({ url })
  // Its client takes long to load, so only who uses it waits for it.
  const { openEventStoreDb } = await import('../../infra/event-store/eventstoredb.ts')
  return openEventStoreDb({ url: eventStoreUrl })
}

function openMailer({ smtpUrl, mailFrom, dataDirectory }: Configuration): Mailer & { close?(): void } {
  if (smtpUrl !== undefined) return smtpMailer({ url: smtpUrl, from: mailFrom, timeoutMs: smtpTimeoutMs })
  return fileMailer({ directory: join(dataDirectory, 'mail'), from: mailFrom })
}

/** Phone numbers, accounts and credentials are kept out of logs here, not where something is logged. */
const redacted = [
  '*.msisdn',
  '*.accountNumber',
  '*.account_number',
  '*.secret',
  '*.authorization',
  '*.token',
  'headers.authorization',
]

function openLog({ logLevel, instance }: Configuration): Log {
  const options = {
    level: logLevel,
    base: { instance },
    redact: redacted,
    serializers: { error: pino.stdSerializers.err },
  }
  return pino(options, pino.destination({ dest: 2, sync: false, minLength: 4_096 }))
}
