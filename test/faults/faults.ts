import type pg from 'pg'
import { eventually } from '../support/eventually.ts'
import type { ServiceApart } from '../support/processes/service-apart.ts'
import { led, services, type Service } from './fleet.ts'
import type { FaultyProxy } from './proxy.ts'
import type { World } from './world.ts'

/** Something that goes wrong while requests keep coming. */
export interface Fault {
  readonly name: string
  /** Makes it happen and go away again, and answers how often it did. */
  readonly inject: (world: World) => Promise<number>
}

/** Requests that are answered between two faults, or while one lasts: there is always work in hand. */
const answersBetween = 30
const answersWhile = 60
/** More than one process carries out before it dies. */
const transfersAtOnce = 200
/** Of a server that is late, so that somebody who starts has met it. */
const refusedWhileLate = 40
/** Longer than anybody waits. */
const silenceMs = 600_000

type Line = 'event store' | 'postgres' | 'broker' | 'rail'
export const lines: readonly Line[] = ['event store', 'postgres', 'broker', 'rail']

/** What is worth losing the answer to: appends, the ends of transactions, anything, submissions. */
const marks: Readonly<Record<Line, string>> = {
  'event store': 'append-events',
  postgres: 'commit',
  broker: '',
  rail: '/submit',
}
const confirmed = 'PaymentIntentConfirmationStarted'

export const calm: Fault = {
  name: 'none',
  inject: async ({ load }) => {
    await load.answers(2 * answersWhile)
    return 0
  },
}

export function killed(service: Service, times = 2): Fault {
  return {
    name: `${service} killed`,
    inject: (world) =>
      repeat(world, times, async () => {
        const victim = await world.fleet.foremost(service)
        await victim.end('SIGKILL')
        await world.fleet.complete(service)
      }),
  }
}

/** Whoever carries money from one book to the other dies between two of its steps. */
export function killedAmidTransfers(times = 3): Fault {
  return {
    name: 'transfers under way, processes killed',
    inject: (world) =>
      repeat(world, times, async () => {
        const victim = await world.fleet.foremost('processes')
        await world.transfers.ask(transfersAtOnce)
        await victim.end('SIGKILL')
        await world.fleet.complete('processes')
      }),
  }
}

/** It wakes up when another leads in its place, and goes on with what it had in hand. */
export function stopped(service: Service): Fault {
  return {
    name: `${service} stopped, continued`,
    inject: (world) =>
      repeat(world, 1, async () => {
        const sleeper = await world.fleet.foremost(service)
        sleeper.signal('SIGSTOP')
        if (isLed(service)) await world.fleet.successorOf(sleeper)
        await world.load.answers(answersWhile)
        sleeper.signal('SIGCONT')
        await world.load.answers(answersBetween)
      }),
  }
}

/**
 * While its successor sleeps, nobody but the deposed leader could do the work; it must not. Both fall asleep
 * between transactions: what one of them holds would keep the other waiting for ever if it has no fence.
 */
export function wokenAlone(service: (typeof led)[number]): Fault {
  return {
    name: `${service} woken, its successor stopped`,
    inject: (world) =>
      repeat(world, 1, async () => {
        const sleeper = await world.fleet.foremost(service)
        await stopBetweenTransactions(sleeper, world)
        const successor = await world.fleet.successorOf(sleeper)
        await stopBetweenTransactions(successor, world)
        sleeper.signal('SIGCONT')
        await world.load.answers(answersWhile)
        await world.fleet.successorOf(successor)
        successor.signal('SIGCONT')
        await world.load.answers(answersBetween)
      }),
  }
}

async function stopBetweenTransactions(service: ServiceApart, { postgres }: World): Promise<void> {
  const isStopped = async () => {
    service.signal('SIGSTOP')
    // What was on its way at the first look has arrived at the second.
    const isBusy =
      (await isInTransaction(service, postgres.pool)) || (await isInTransaction(service, postgres.pool))
    if (isBusy) service.signal('SIGCONT')
    return !isBusy
  }
  await eventually(isStopped, Boolean)
}

/** Its connections are known by its name; one without a transaction is idle. */
async function isInTransaction({ instance }: ServiceApart, pool: pg.Pool): Promise<boolean> {
  const text = `select from pg_stat_activity where application_name = $1 and state <> 'idle'`
  const { rowCount } = await pool.query(text, [instance])
  return rowCount !== 0
}

function isLed(service: Service): boolean {
  return led.some((name) => name === service)
}

export function postgresKilled(times = 2): Fault {
  return {
    name: 'postgres killed',
    inject: (world) => repeat(world, times, () => world.postgres.crash()),
  }
}

export function brokerKilled(times = 1): Fault {
  return {
    name: 'broker killed',
    inject: (world) => repeat(world, times, () => world.broker.crash()),
  }
}

/** The connection breaks when the request has gone through and before its answer comes, or before it goes. */
export function cut(line: Line, times = 10): Fault {
  return {
    name: `${line}: connections cut`,
    inject: async (world) => {
      // EventStoreDB has one connection for everything.
      const mark = line === 'event store' && world.history ? '' : marks[line]
      for (let nth = 0; nth < times; nth++) {
        const when = nth % 3 === 2 ? 'before the request' : 'before the answer'
        await proxyOf(world, line).cutNext(when, mark)
        await world.load.answers(answersBetween / 10)
      }
      proxyOf(world, line).cutAll()
      await world.load.answers(answersBetween)
      return times + 1
    },
  }
}

/** Of a confirmation nobody else can tell whether its own first try or another request was there before. */
export function cutConfirmations(times: number): Fault {
  return {
    name: 'event store: confirmations cut',
    inject: (world) =>
      repeat(world, times, () => proxyOf(world, 'event store').cutNext('before the answer', confirmed)),
  }
}

/** The leader dies with events in its hands that have never come to the broker. */
export function killedBehindSilence(): Fault {
  return {
    name: 'broker silent, relay killed',
    inject: (world) =>
      repeat(world, 1, async () => {
        const victim = await world.fleet.foremost('relay')
        const { proxy } = world.broker
        proxy.slowDown({ toServerMs: silenceMs })
        await world.load.answers(answersWhile)
        await victim.end('SIGKILL')
        // What is on its way is lost with its connection.
        proxy.cutAll()
        proxy.slowDown({})
        await world.fleet.complete('relay')
      }),
  }
}

/** The server stops sending to all that follow the log, again and again. */
export function cutOff(times = 20): Fault {
  return {
    name: 'event store: consumers cut off',
    inject: (world) => repeat(world, times, async () => world.history!.cutOff()),
  }
}

export function leaderChanged(times = 3): Fault {
  return {
    name: 'event store: another leader, and back',
    inject: (world) => repeat(world, times, () => world.history!.changeLeader()),
  }
}

/** A process that starts while the server does waits for it. */
export function serverLate(service: Service): Fault {
  const inject = (world: World) =>
    repeat(world, 1, async () => {
      const victim = await world.fleet.foremost(service)
      let complete: Promise<void> = Promise.resolve()
      await world.history!.whileNotReady(async (refused) => {
        await victim.end('SIGKILL')
        complete = world.fleet.complete(service)
        const before = refused()
        await eventually(
          async () => refused(),
          (now) => now > before + refusedWhileLate,
        )
      })
      await complete
    })
  return { name: `event store late, ${service} started`, inject }
}

/** Slow both ways. */
export function slowNetwork(line: Line, delayMs: number): Fault {
  return slow(`${line}: slow network, ${delayMs} ms`, line, {
    toServerMs: delayMs / 2,
    toClientMs: delayMs / 2,
  })
}

/** Answers that come late stand in for a disk that is slow to write: no disk is slowed down. */
export function slowDisk(delayMs: number): Fault {
  return slow(`postgres: slow disk, ${delayMs} ms`, 'postgres', { toClientMs: delayMs })
}

function slow(name: string, line: Line, delays: Parameters<FaultyProxy['slowDown']>[0]): Fault {
  return {
    name,
    inject: async (world) => {
      proxyOf(world, line).slowDown(delays)
      await world.load.answers(answersWhile)
      proxyOf(world, line).slowDown({})
      await world.load.answers(answersBetween)
      return 1
    },
  }
}

/** Several at once, in pairs that chance puts together. */
export function together(times: number, random: () => number): Fault {
  const alone = [...services.map((service) => killed(service, 1)), ...lines.map((line) => cut(line, 3))]
  const engines = [
    postgresKilled(1),
    brokerKilled(1),
    stopped('relay'),
    stopped('processes'),
    stopped('projector'),
  ]
  const one = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!
  return {
    name: 'several at once',
    inject: async (world) => {
      let injected = 0
      for (let turn = 0; turn < times; turn++) {
        const counts = await Promise.all([one(engines), one(alone)].map(({ inject }) => inject(world)))
        injected += counts.reduce((sum, count) => sum + count, 0)
      }
      return injected
    },
  }
}

function proxyOf({ postgres, history, broker, operators }: World, line: Line): FaultyProxy {
  const eventStore = history?.proxy ?? postgres.proxy
  return { 'event store': eventStore, postgres: postgres.proxy, broker: broker.proxy, rail: operators.proxy }[
    line
  ]
}

async function repeat({ load }: World, times: number, fault: () => Promise<void>): Promise<number> {
  for (let turn = 0; turn < times; turn++) {
    await fault()
    await load.answers(answersBetween)
  }
  return times
}
