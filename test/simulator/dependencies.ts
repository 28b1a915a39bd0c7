import { Refusal } from '../../packages/contract/refusals.ts'
import type { Dependencies } from '../../packages/contract/routes.ts'
import type { MovedClocks } from '../../packages/kernel/moved-clocks.ts'
import type { Log, Snapshots } from '../../packages/kernel/ports.ts'
import type { Answer, AnswerKey, Answers } from '../../packages/kernel/read-ports.ts'
import { simulatedReads } from './reads.ts'
import { WatchedExecutor } from './executor.ts'
import type { Life, Scheduler } from './scheduler.ts'
import type { Stage } from './stage.ts'
import { SimulatedStore } from './store.ts'
import type { World } from './world.ts'

/** So few that memory is given up in every longer run. */
export const streamsMax = 8

/** How the executor says no, as in services/composition/dependencies.ts. */
const refuse = {
  notFound: () => new Refusal('resource_must_exist'),
  changedMeanwhile: () => new Refusal('resource_must_not_have_changed', { retryAfterSeconds: 1 }),
  otherRevision: () => new Refusal('resource_must_be_as_it_was_seen'),
  overloaded: () => new Refusal('service_must_not_be_overloaded', { retryAfterSeconds: 1 }),
}

/** The ports of one process, all of them on simulated parts. */
export function dependenciesOf(world: World, life: Life): Dependencies {
  const { stage, log, database, rail, answers } = world
  const { scheduler, newId } = stage
  const { clock } = scheduler
  const store = new SimulatedStore(log, stage, life)
  const options = {
    store,
    clock,
    newId,
    newSalt: () => '',
    refuse,
    streamsMax,
    log: silentLog(stage),
    snapshots: world.snapshots,
    pause: (delayMs: number) => scheduler.pause(life, delayMs),
  }
  const reached = rail.reachedFrom(life)
  return {
    executor: new WatchedExecutor(options, stage, world.sendings),
    store,
    reads: simulatedReads({ stage, database, life }),
    answers: answers.reachedFrom(life),
    rail: reached,
    sandboxRail: reached,
    clock,
    movedClocks: nobodysClocks,
    newId,
    log: options.log,
    baseUrl: 'https://pay.example',
    urlFault: () => undefined,
    publicEvents: { find: unused, countMissed: unused, deliveries: unused, feed: unused },
    vault: { seal: unused, open: unused },
    opaque: { seal: unused, open: unused },
    personalKeys: { destroy: unused },
    blindIndex: unused,
    mailer: { send: unused },
  }
}

/** Merchants' clocks are not moved here: all time is the scheduler's. */
const nobodysClocks: MovedClocks = {
  known: () => undefined,
  ahead: () => [],
  learn: unused,
  follow: async () => undefined,
  close: async () => undefined,
}

function unused(): never {
  throw new Error('no simulated client needs this')
}

function silentLog({ note }: Stage): Log {
  const line = (fields: object, message: string) => note(() => `  log: ${message} ${inspect(fields)}`)
  return { info: line, warn: line, error: line }
}

function inspect(fields: object): string {
  return JSON.stringify(fields, (_, value: unknown) => (value instanceof Error ? String(value) : value))
}

/** Snapshots that are kept by one table and lost by nobody: losing them would only cost reading. */
export function simulatedSnapshots(): Snapshots {
  const kept = new Map<string, string>()
  return {
    load: async (stream, version) => {
      const text = kept.get(`${stream} ${version}`)
      return text === undefined ? undefined : JSON.parse(text)
    },
    save: async (stream, version, snapshot) =>
      void kept.set(`${stream} ${version}`, JSON.stringify(snapshot)),
  }
}

interface KeptAnswer {
  readonly fingerprint: string
  readonly startedAt: number
  readonly answer: Answer | undefined
}

const leaseMs = 60_000

/** Answers of keyed requests, like infra/postgres/idempotency/answers.ts. */
export class SimulatedAnswers {
  readonly #scheduler: Scheduler
  readonly #kept = new Map<string, KeptAnswer>()

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  reachedFrom(life: Life): Answers {
    const call = <Result>(work: () => Result) => this.#scheduler.call(life, work)
    return {
      begin: (key, fingerprint) => call(() => this.#begin(nameOf(key), fingerprint)),
      finish: (key, answer) =>
        call(() => {
          const known = this.#kept.get(nameOf(key))
          if (known)
            this.#kept.set(nameOf(key), { ...known, answer: JSON.parse(JSON.stringify(answer)) as Answer })
        }),
      abandon: (key) =>
        call(() => {
          if (!this.#kept.get(nameOf(key))?.answer) this.#kept.delete(nameOf(key))
        }),
      release: (key) =>
        call(() => {
          const known = this.#kept.get(nameOf(key))
          if (known && !known.answer) this.#kept.set(nameOf(key), { ...known, startedAt: -Infinity })
        }),
      lookup: async () => [],
    }
  }

  #begin(name: string, fingerprint: string): Awaited<ReturnType<Answers['begin']>> {
    const known = this.#kept.get(name)
    const { now } = this.#scheduler
    const hasDied =
      known && !known.answer && known.fingerprint === fingerprint && known.startedAt < now - leaseMs
    if (!known || hasDied) {
      this.#kept.set(name, { fingerprint, startedAt: now, answer: undefined })
      return { state: 'begun', isResumed: known !== undefined }
    }
    if (known.fingerprint !== fingerprint) return { state: 'other_request' }
    return known.answer ? { state: 'done', fingerprint, answer: known.answer } : { state: 'running' }
  }
}

function nameOf({ merchant, livemode, operation, key }: AnswerKey): string {
  return `${merchant} ${livemode} ${operation} ${key}`
}
