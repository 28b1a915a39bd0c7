import { setTimeout as pause } from 'node:timers/promises'
import type { Configuration } from '../../infra/configuration.ts'
import { Turns } from '../../infra/event-loop/turns.ts'
import type { Brokers } from '../../infra/event-bus/kafka.ts'
import { sealedStore } from '../../infra/event-store/sealed/store.ts'
import { addressBlocks } from '../../infra/http/addresses.ts'
import { urlFault } from '../../infra/http/url-fault.ts'
import { PostgresAnswers } from '../../infra/postgres/idempotency/answers.ts'
import { PostgresImages } from '../../infra/postgres/images.ts'
import type { Postgres } from '../../infra/postgres/client/connect.ts'
import { exclusively } from '../../infra/postgres/client/exclusively.ts'
import { postgresPublicEvents } from '../../infra/postgres/webhooks/public-events.ts'
import { PostgresReadStore } from '../../infra/postgres/read-models/read-store.ts'
import { logProofs } from '../../infra/postgres/transparency/log-proofs.ts'
import { logSignatures } from '../../infra/postgres/transparency/log-signatures.ts'
import { SubjectKeys } from '../../infra/postgres/privacy/subject-keys.ts'
import { SandboxOperations } from '../../infra/postgres/sandbox-operations.ts'
import { sealedSnapshots } from './sealed-snapshots.ts'
import { postgresSnapshots } from '../../infra/postgres/snapshots.ts'
import { RailRegistry, type RailEntry } from '../../infra/rails/registry.ts'
import { SimulatedOperators } from '../../infra/rails/sandbox.ts'
import type { SandboxBook } from '../../infra/rails/sandbox-book.ts'
import { passwords } from '../../infra/secrets/passwords.ts'
import { WebauthnPasskeys } from '../../infra/secrets/passkeys.ts'
import { OpenIdGoogle, type GoogleClient } from '../../infra/secrets/google.ts'
import { oneTimeCodes } from '../../infra/secrets/one-time-codes.ts'
import { opaqueNumbers } from '../../infra/secrets/opaque-numbers.ts'
import { openVault } from '../../infra/secrets/vault.ts'
import { Refusal } from '../../packages/contract/refusals.ts'
import type { Dependencies } from '../../packages/contract/routes.ts'
import { Executor } from '../../packages/kernel/execution/execute.ts'
import type { Clock, EventStore, Log, Mailer, Snapshots } from '../../packages/kernel/ports.ts'
import type { Texter } from '../../packages/kernel/ports/texts.ts'
import type { Tracing } from '../../packages/kernel/ports/traces.ts'
import { readModels } from '../../projections/index.ts'
import { openBlindIndex } from './blind-index.ts'
import { withDelays } from './observing/consumer-delays.ts'
import { masterKeysOf, openEngines, type Engines } from './engines.ts'
import { Health } from './observing/health.ts'
import { randomSalts, risingIds } from './ids.ts'
import { storedTypes } from '../../packages/domain/index.ts'
import { observe } from './observing/observe.ts'
import { openLog } from './observing/log.ts'
import { openMailer, openTexter } from './books/posting.ts'
import { closeInTurn, orClose, part } from './closing.ts'
import { SandboxClocks } from './sandbox-clocks.ts'
import { openTokens } from './tokens.ts'
import { openTelemetry } from './observing/telemetry.ts'
import { TracedExecutor, tracedRail, tracedStore } from './observing/traced.ts'

/** The adapters that a process works with, opened from its configuration. */
export interface Runtime {
  readonly configuration: Configuration
  readonly postgres: Postgres
  /** Where the settings name some and this process uses the bus. */
  readonly brokers?: Brokers
  /** Events as stored: personal fields are sealed. */
  readonly asStored: EventStore
  readonly snapshots: Snapshots
  readonly dependencies: Dependencies
  readonly health: Health
  /** For what is done beside requests. */
  readonly turns: Turns
  close(): Promise<void>
}

export interface RuntimeOptions {
  /** A clock other than the machine's, for tests. */
  readonly clock?: Clock
  /** Ends a start that waits for something at once. */
  readonly ending?: AbortSignal
  /** Which service this process is, for traces. */
  readonly service?: string
  /** Brokers that the settings name are opened as well. */
  readonly usesBus?: boolean
  /**
   * Lets the simulated operators serve live keys: for tests and benchmarks, which say so in code. No setting
   * does, so that no live payment is ever simulated by mistake.
   */
  readonly simulatesLive?: boolean
  /** Rails that take precedence over the simulated operators. */
  readonly rails?: readonly RailEntry[]
  /** How old the knowledge of personal keys may be: tests do not wait for as long as services do. */
  readonly keysFreshMs?: number
}

/** Opens every adapter; a missing dependency is one sentence that says what to set. */
export async function openRuntime(
  configuration: Configuration,
  options: RuntimeOptions = {},
): Promise<Runtime> {
  const log = await openLog(configuration)
  const { usesBus = false, ending } = options
  const engines = await openEngines(configuration, { log, usesBus, ending })
  const { postgres, store, brokers } = engines
  const close = () => closeInTurn(store, brokers ? [brokers, postgres] : postgres)
  return orClose({ close }, () => openOn(engines, log, { configuration, ...options }))
}

interface Opening extends RuntimeOptions {
  readonly configuration: Configuration
}

async function openOn(
  { postgres, store, brokers }: Engines,
  log: Log,
  { configuration, clock: now = () => new Date(), service = 'all-in-one', ...choices }: Opening,
): Promise<Runtime> {
  const snapshots = sealedSnapshots(postgresSnapshots(postgres.pool), openVault(masterKeysOf(configuration)))
  const posting = { mailer: openMailer(configuration), texter: openTexter(configuration) }
  const operators = await openOperators(configuration, postgres)
  const [health, turns] = [new Health(), new Turns()]
  const { tracing, ...telemetry } = await openTelemetry(configuration, health, `ikw-${service}`)
  const adapters = {
    postgres,
    store: withDelays(store, health.metrics),
    snapshots,
    ...posting,
    operators,
    log,
    now,
    tracing,
    simulatesLive: choices.simulatesLive ?? false,
    rails: choices.rails ?? [],
    keysFreshMs: choices.keysFreshMs,
  }
  const dependencies = buildDependencies(configuration, adapters)
  observe(health, { dependencies, postgres })
  const watching = dependencies.personalKeys.watch(() => dependencies.executor.forget())
  const beside = [posting.mailer, operators, telemetry, brokers].map((one) => ({
    close: async () => one?.close?.(),
  }))
  const behind = [part('event store', store), beside, part('database', postgres)]
  const close = () => closeInTurn([watching, dependencies.movedClocks], ...behind)
  const engines = { postgres, ...(brokers && { brokers }) }
  return { configuration, ...engines, asStored: store, snapshots, dependencies, health, turns, close }
}

interface Adapters {
  readonly postgres: Postgres
  readonly store: EventStore
  readonly snapshots: Snapshots
  readonly mailer: Mailer
  readonly texter: Texter
  readonly operators: SandboxBook
  readonly log: Log
  /** Real time. */
  readonly now: () => Date
  readonly tracing: Tracing | undefined
  readonly simulatesLive: boolean
  readonly rails: readonly RailEntry[]
  readonly keysFreshMs: number | undefined
}

function buildDependencies(configuration: Configuration, adapters: Adapters): Dependencies {
  const { postgres, snapshots, mailer, texter, log, now, tracing } = adapters
  const { pool } = postgres
  const rails = openRails(configuration, adapters)
  const masterKeys = masterKeysOf(configuration)
  const vault = openVault(masterKeys)
  const freshMs = adapters.keysFreshMs
  const personalKeys = new SubjectKeys({ pool, vault, ...(freshMs !== undefined && { freshMs }) })
  const traced = tracing ? tracedStore(adapters.store, tracing) : adapters.store
  const store = sealedStore(traced, { types: storedTypes, keys: personalKeys })
  const newId = risingIds()
  const reads = new PostgresReadStore(postgres, readModels)
  const movedClocks = new SandboxClocks({ store, reads, now, log })
  const { clock, known: knowsTime } = movedClocks
  const chance = { newId, newSalt: randomSalts() }
  const executing = { store, snapshots, clock, knowsTime, ...chance, log, pause, refuse: executorRefusals }
  const executor = tracing ? new TracedExecutor(executing, tracing) : new Executor(executing)
  const { baseUrl, dashboardUrl, google } = configuration
  return {
    executor,
    store,
    reads,
    ...rails,
    ...keptIn(postgres, { vault, baseUrl }),
    ...credentialsOf({ executor, store, vault, newId, clock, baseUrl, dashboardUrl, google }),
    opaque: opaqueNumbers(masterKeys),
    vault,
    personalKeys,
    logProofs: logProofs({ pool, store: adapters.store, keys: personalKeys }),
    mailer,
    texter,
    clock,
    movedClocks,
    newId,
    log,
    ...settingsOf(configuration),
    ...(tracing && { tracing }),
  }
}

/** What is in the database and in no event. */
function keptIn(postgres: Postgres, { vault, baseUrl }: Omit<Parameters<typeof logSignatures>[0], 'pool'>) {
  const { pool } = postgres
  return {
    exclusively: exclusively(pool),
    logSignatures: logSignatures({ pool, vault, baseUrl }),
    answers: new PostgresAnswers(postgres),
    publicEvents: postgresPublicEvents(postgres),
    images: new PostgresImages(pool),
  }
}

/** What proves who somebody is. */
function credentialsOf(parts: CredentialParts) {
  const blindIndex = openBlindIndex(parts)
  const codes = oneTimeCodes({ blindIndex, clock: parts.clock })
  const passkeys = new WebauthnPasskeys({ blindIndex, url: parts.dashboardUrl })
  const callbackUrl = `${parts.baseUrl}/api/v1/auth/google/callback`
  const google = parts.google && new OpenIdGoogle(parts.google, { blindIndex, callbackUrl })
  return {
    blindIndex,
    tokens: openTokens(parts),
    passwords: passwords(),
    codes,
    passkeys,
    ...(google && { google }),
  }
}

type CredentialParts = Parameters<typeof openTokens>[0] & {
  readonly dashboardUrl: string
  readonly google: GoogleClient | undefined
}

function settingsOf({ baseUrl, dashboardUrl, rateLimit: limitsCounts, egressAllow }: Configuration) {
  const allow = addressBlocks(egressAllow)
  const fault: Dependencies['urlFault'] = (url, livemode) => urlFault(url, { livemode, allow })
  return { baseUrl, dashboardUrl, limitsCounts, urlFault: fault }
}

/** How the executor refuses. */
export const executorRefusals = {
  notFound: () => new Refusal('resource_must_exist'),
  changedMeanwhile: () => new Refusal('resource_must_not_have_changed', { retryAfterSeconds: 1 }),
  otherRevision: () => new Refusal('resource_must_be_as_it_was_seen'),
  overloaded: () => new Refusal('service_must_not_be_overloaded', { retryAfterSeconds: 1 }),
}

/**
 * The sandbox has the simulated operators; a live operator is another entry here, with an adapter of its own.
 */
function openRails({ baseUrl }: Configuration, adapters: Adapters) {
  const { operators, log, now: clock, simulatesLive, rails, tracing } = adapters
  const sandboxRail = new SimulatedOperators({
    book: operators,
    clock,
    redirectBase: `${baseUrl}/sandbox/pay`,
    onError: (error) => log.warn({ error }, 'simulated operators try again'),
  })
  const environments = simulatesLive ? (['sandbox', 'live'] as const) : (['sandbox'] as const)
  const rail = new RailRegistry([...rails, { environments, rail: sandboxRail }])
  return { sandboxRail, rail: tracing ? tracedRail(rail, tracing) : rail }
}

async function openOperators({ sandboxUrl: url }: Configuration, { pool }: Postgres): Promise<Operators> {
  if (url === undefined) return new SandboxOperations(pool)
  // Its HTTP client is a hundred files.
  const { HttpSandboxBook } = await import('../../infra/rails/sandbox-http.ts')
  return new HttpSandboxBook({ url })
}

interface Operators extends SandboxBook {
  close?(): Promise<void>
}
