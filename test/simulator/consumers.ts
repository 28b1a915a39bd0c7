import { LeadershipLostError } from '../../infra/postgres/consumers/fence.ts'
import type { ParkedPlace } from '../../infra/postgres/consumers/parked.ts'
import type { DueTimer, Timers } from '../../packages/kernel/ports/reads.ts'
import { BrokenConnectionError, type SimulatedDatabase } from './engines/database.ts'
import type { Life } from './scheduler.ts'
import type { Stage } from './stage.ts'

/** What a leader may do: it asks with each write whether it still is one. */
export interface Rule {
  readonly role: string
  readonly life: Life
  isLeading(): boolean
  /** The leader has noticed that it is none any more. */
  stepDown(): void
}

type Place = Pick<ParkedPlace, 'stream' | 'revision'>

interface Attempts {
  readonly dueAt: string
  readonly attempts: number
  readonly againAt: number
}

/** What processes keep beside the log and the read models. It survives them all. */
export class Notebook {
  readonly checkpoints = new Map<string, { position: number; attempted: number }>()
  readonly parked = new Map<string, string>()
  /** What is tried again by itself, with what waits behind it. */
  readonly setAside = new Map<string, readonly ParkedPlace[]>()
  readonly timerAttempts = new Map<string, Attempts>()
  readonly #stage: Stage

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** One transaction behind the leader's fence; the connection may break before or after it. */
  write(rule: Rule, work: () => void): Promise<void> {
    const { scheduler } = this.#stage
    const { random, faults } = scheduler
    const fate = random.chance(faults.brokenWrite) ? random.pick(['before', 'after'] as const) : 'done'
    return scheduler.call(rule.life, () => {
      assertLeading(rule)
      if (fate !== 'before') work()
      if (fate !== 'done') throw new BrokenConnectionError('the connection broke')
    })
  }
}

export function assertLeading(rule: Rule): void {
  if (rule.isLeading()) return
  rule.stepDown()
  throw new LeadershipLostError(rule.role)
}

/** How far consumers have come, like infra/postgres/consumers/checkpoints.ts. */
export function simulatedCheckpoints(notebook: Notebook, rule: Rule) {
  const of = (name: string) => {
    const known = notebook.checkpoints.get(name)
    if (known) return known
    const begun = { position: 0, attempted: 0 }
    notebook.checkpoints.set(name, begun)
    return begun
  }
  return {
    load: async (name: string) => ({ ...of(name) }),
    attempt: (name: string, through: number) =>
      notebook.write(rule, () => {
        of(name).attempted = Math.max(of(name).attempted, through)
      }),
    save: (name: string, position: number) =>
      notebook.write(rule, () => {
        of(name).position = Math.max(of(name).position, position)
      }),
    // Nobody waits for it, and who leads next passes it again.
    passed: (name: string, position: number) =>
      void notebook
        .write(rule, () => {
          of(name).position = Math.max(of(name).position, position)
        })
        .catch(() => undefined),
  }
}

/** Money that an operator keeps is a matter for people by design; nothing else may ever be parked. */
const meantForPeople = /the provider keeps what was paid late/

/** What consumers set aside, like infra/postgres/consumers/parked.ts. */
export function simulatedParked(stage: Stage, notebook: Notebook, rule: Rule) {
  const { parked, setAside } = notebook
  const keyOf = (target: string) => `${rule.role} ${target}`
  const wait = (key: string, events: readonly ParkedPlace[]) => {
    const known = setAside.get(key) ?? []
    const added = events.filter((event) => !known.some((each) => isSame(each, event)))
    setAside.set(key, [...known, ...added])
  }
  return {
    has: (target: string) => parked.has(keyOf(target)) || setAside.has(keyOf(target)),
    holds: async (target: string, event: Place) =>
      (setAside.get(keyOf(target)) ?? []).some((each) => isSame(each, event)),
    park: async (target: string, _: readonly unknown[], error: string) => {
      await notebook.write(rule, () => void parked.set(keyOf(target), error))
      const isExpected = meantForPeople.test(error)
      if (!isExpected) stage.violate('R7', `${rule.role} parks ${target}: ${error}`)
    },
    setAside: (target: string, event: ParkedPlace) =>
      notebook.write(rule, () => wait(keyOf(target), [event])),
    /** Nothing that is parked is ever released here, so it stays parked. */
    parkBehind: async (target: string, events: readonly ParkedPlace[]) => {
      let isBehind = true
      await notebook.write(rule, () => {
        isBehind = parked.has(keyOf(target)) || setAside.has(keyOf(target))
        if (setAside.has(keyOf(target))) wait(keyOf(target), events)
      })
      return isBehind
    },
    eventsOf: async (target: string) => setAside.get(keyOf(target)) ?? [],
    release: (target: string, event: Place) =>
      notebook.write(rule, () => {
        const left = (setAside.get(keyOf(target)) ?? []).filter((each) => !isSame(each, event))
        if (left.length > 0) setAside.set(keyOf(target), left)
        else setAside.delete(keyOf(target))
      }),
    retryRequests: async () =>
      [...setAside.keys()]
        .filter((key) => key.startsWith(keyOf('')))
        .map((key) => key.slice(keyOf('').length)),
  }
}

function isSame(one: Place, other: Place): boolean {
  return one.stream === other.stream && one.revision === other.revision
}

/** The read model `timers` and its attempts, like infra/postgres/timers.ts. */
export function simulatedTimers(notebook: Notebook, database: SimulatedDatabase, rule: Rule): Timers {
  return {
    // A life that has lost its shares does not get them back.
    asHeldNow() {
      return this
    },
    async due(now, limit) {
      const rows = [...database.table('timers').values()] as unknown as TimerRow[]
      const due = rows.filter(
        (row) => Date.parse(row.due_at) <= now.getTime() && !isPostponed(notebook, row, now),
      )
      return due
        .sort((one, other) => (one.due_at < other.due_at ? -1 : 1))
        .slice(0, limit)
        .map((row) => timerOf(notebook, row))
    },
    postpone: ({ id, dueAt }, until) =>
      notebook.write(rule, () => {
        const known = notebook.timerAttempts.get(id)
        const attempts = known?.dueAt === dueAt ? known.attempts + 1 : 1
        notebook.timerAttempts.set(id, { dueAt, attempts, againAt: until.getTime() })
      }),
  }
}

interface TimerRow extends Omit<DueTimer, 'dueAt' | 'attempts'> {
  readonly due_at: string
}

function isPostponed(notebook: Notebook, { id, due_at }: TimerRow, now: Date): boolean {
  const known = notebook.timerAttempts.get(id)
  return known?.dueAt === due_at && known.againAt > now.getTime()
}

function timerOf(notebook: Notebook, { due_at: dueAt, ...row }: TimerRow): DueTimer {
  const known = notebook.timerAttempts.get(row.id)
  return { ...row, dueAt, attempts: known?.dueAt === dueAt ? known.attempts : 0 }
}
