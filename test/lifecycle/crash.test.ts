import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { readConfiguration, type Configuration } from '../../infra/configuration.ts'
import { readModels } from '../../projections/index.ts'
import { startService as start, type RunningService } from '../../services/all-in-one/start.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { brokenLaws } from '../support/load/checker.ts'
import { Load, type Answered } from '../support/load/load.ts'
import { seeded } from '../support/random.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { replayDifferences } from '../support/verifying/replay.ts'
import { freeDeadKeys, settled, Time } from '../support/payments/settling.ts'
import { killPostgres } from '../support/processes/postmaster.ts'
import { ServiceProcess } from '../support/processes/service-process.ts'
import { clientOf, type MerchantClient } from '../support/service.ts'

const kills = 20
/** The server goes down with the service so often. */
const killsPerPostgresKill = 5
/** Of one merchant, sending at once. */
const servers = 10
/** A life ends after so many answers, or sooner. */
const answersMax = 40
const repeatsMax = 50

t.test('what was answered survives 20 crashes, money moves once, and the books balance', async (t) => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
  t.comment(`SEED=${seed}`)
  const random = seeded(seed)
  const dataDirectory = temporaryDirectory(t)
  t.teardown(() => killPostgres(dataDirectory))
  const lives: Lives = { addresses: [], dataDirectory, random }
  for (let kill = 1; kill <= kills; kill++) await live(t, lives, kill)
  const load = lives.load!
  await load.stop()

  const configuration = readConfiguration({
    PORT: '0',
    DATA_DIR: dataDirectory,
    RATE_LIMIT: 'off',
    LOG_LEVEL: 'error',
  })
  const service = await settle(configuration, lives)
  t.comment(
    `${load.answered().length} answers, ${load.answered().filter(isRepeated).length} of them to repeated requests`,
  )
  t.ok(load.answered().some(isRepeated), 'requests were cut off')
  t.strictSame(load.answered().filter(isFailure).slice(0, 5), [], 'nothing has failed')
  await keepsItsWord(t, load, clientOf(service))
  await answersRepeatsAlike(t, load)
  await service.close()

  const runtime = await openRuntime(configuration)
  t.teardown(() => runtime.close())
  t.strictSame(await brokenLaws(runtime.postgres.pool), {})
  t.strictSame(await replayDifferences(runtime, readModels), {}, 'each read model equals a replay of the log')
})

function isRepeated({ tries }: Answered): boolean {
  return tries > 1
}

function isFailure({ answer }: Answered): boolean {
  return answer.status >= 500 && answer.body['retryable'] !== true
}

interface Lives {
  /** Where the service listens; empty while it is dead. */
  addresses: readonly string[]
  /** Begins with the first life, which makes the merchant. */
  load?: Load
  readonly dataDirectory: string
  readonly random: () => number
}

/** From one start to the crash that ends it. */
async function live(t: Test, lives: Lives, kill: number): Promise<void> {
  const { dataDirectory, random } = lives
  const service = new ServiceProcess({ DATA_DIR: dataDirectory })
  const client = await service.ready(dataDirectory)
  lives.addresses = [client.url]
  const load = (lives.load ??= startLoad(t, lives, client))
  await load.answers(1 + Math.floor(random() * answersMax))
  await pause(random() * 10)
  if (kill % killsPerPostgresKill === 0) killPostgres(dataDirectory)
  await service.end('SIGKILL')
  lives.addresses = []
}

function startLoad(t: Test, lives: Lives, { sandboxKey }: MerchantClient): Load {
  const load = new Load(t, {
    random: lives.random,
    addresses: () => lives.addresses,
    merchants: [{ id: 'first', key: sandboxKey, servers }],
    mix: { payouts: 0.5, payments: 0.3, refunds: 0.2 },
  })
  load.start()
  return load
}

/** A last life, in which time flies until all is done that ever will be. */
async function settle(configuration: Configuration, lives: Lives): Promise<RunningService> {
  const time = new Time()
  time.fly()
  const service = await start(configuration, { clock: time.clock })
  const { pool } = service.runtime.postgres
  await freeDeadKeys(pool)
  lives.addresses = [clientOf(service).url]
  await lives.load!.finish()
  await settled(pool)
  return service
}

/** States that may follow each state that was answered. */
const later: Readonly<Record<string, readonly string[]>> = {
  pending: ['in_transit', 'paid', 'failed', 'canceled', 'succeeded'],
  in_transit: ['paid', 'failed'],
  paid: ['failed'],
  requires_payment_method: ['processing', 'requires_action', 'succeeded', 'failed'],
  processing: ['succeeded', 'failed'],
  requires_action: ['succeeded', 'failed'],
}

const kept = [
  { resource: 'payout', path: '/api/v1/payouts', fields: ['id', 'amount', 'currency', 'fee', 'created'] },
  {
    resource: 'payment_intent',
    path: '/api/v1/payment-intents',
    fields: ['id', 'amount', 'currency', 'created'],
  },
] as const

async function keepsItsWord(t: Test, load: Load, client: MerchantClient): Promise<void> {
  const broken: object[] = []
  for (const { resource, path, fields } of kept) {
    const acknowledged = load.answered(resource).filter(({ answer }) => answer.status < 300)
    t.ok(acknowledged.length > 20, `${acknowledged.length} × ${resource}`)
    for (const { answer } of acknowledged) {
      const { status, body } = await client.get(`${path}/${String(answer.body['id'])}`)
      const isSame = fields.every((field) => body[field] === answer.body[field])
      if (status !== 200 || !isSame || !isLater(answer, body))
        broken.push({ answered: answer.body, now: body })
    }
  }
  t.strictSame(broken.slice(0, 5), [], 'everything is there, as it was answered or later')
}

function isLater(answer: Answered['answer'], now: Record<string, unknown>): boolean {
  const [given, seen] = [String(answer.body['status']), String(now['status'])]
  return given === seen || (later[given] ?? []).includes(seen)
}

/** Which is how the answers to confirmations and refunds are looked up, too. */
async function answersRepeatsAlike(t: Test, load: Load): Promise<void> {
  const changed: object[] = []
  for (const resource of ['payout', 'payment_intent', 'confirmation', 'refund'] as const) {
    const acknowledged = load.answered(resource).filter(({ answer }) => answer.status < 300)
    t.ok(acknowledged.length > 0, `${acknowledged.length} × ${resource}`)
    for (const asked of acknowledged.slice(0, repeatsMax)) {
      const { path, answer } = asked
      const again = await load.repeat(asked)
      const isSame =
        again.status === answer.status &&
        ['id', 'status'].every((field) => again.body[field] === answer.body[field])
      if (!isSame) changed.push({ path, answer: answer.body, again: again.body })
    }
  }
  t.strictSame(changed.slice(0, 5), [], 'a repeat is answered like its first try')
}
