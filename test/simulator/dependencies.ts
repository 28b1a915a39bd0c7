import { hash } from 'node:crypto'
import { Refusal } from '../../packages/contract/refusals.ts'
import type { Dependencies } from '../../packages/contract/routes.ts'
import type { MovedClocks } from '../../packages/kernel/time/moved-clocks.ts'
import type { Log, Snapshots } from '../../packages/kernel/ports.ts'
import { simulatedReads } from './engines/reads.ts'
import { WatchedExecutor } from './engines/executor.ts'
import type { Life } from './scheduler.ts'
import type { Stage } from './stage.ts'
import { SimulatedStore } from './engines/store.ts'
import type { Surroundings } from './surroundings.ts'

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
export function dependenciesOf(world: Surroundings, life: Life): Dependencies {
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
    dashboardUrl: 'https://pay.example',
    limitsCounts: false,
    urlFault: () => undefined,
    publicEvents: {
      find: unused,
      countMissed: unused,
      deliveries: unused,
      deliveriesTo: unused,
      feed: unused,
    },
    images: { keep: unused, find: unused, senders: unused },
    vault: { seal: unused, sealer: unused, open: unused },
    opaque: { seal: unused, open: unused },
    personalKeys: { retire: unused, destroyRetired: unused, watch: unused },
    logProofs: { indexOf: async () => undefined, receiptOf: unused },
    logSignatures: { rootOver: unused, sign: unused },
    exclusively: unused,
    blindIndex: async (name) => hash('sha256', name),
    tokens: { sign: unused, open: unused, publicKeys: unused },
    passkeys: { creation: unused, request: unused, challengeOf: unused, created: unused, used: unused },
    codes: { of: unused, stepOf: unused, newSecret: unused, urlOf: unused },
    passwords: {
      shareProcessors: () => undefined,
      requireRoom: unused,
      reserve: unused,
      hash: unused,
      isRight: unused,
      isWeak: unused,
    },
    mailer: { send: unused },
    texter: { send: unused },
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
