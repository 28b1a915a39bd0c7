import { takePauses } from './engines/pauses.ts'
import { randomOf } from './random.ts'
import { checkAtRest } from './rest.ts'
import { nobody, Scheduler, settle } from './scheduler.ts'
import type { Mistake } from './stage.ts'
import { calm, faultPlanOf, type FaultPlan } from './engines/faults.ts'
import { World, type Violation } from './world.ts'

export interface RunOptions {
  readonly seed: number
  readonly steps: number
  readonly mistake?: Mistake | undefined
  /** Only these steps, of all that the seed has. */
  readonly only?: readonly number[] | undefined
  /** Instead of what the seed says of it. */
  readonly faults?: Partial<FaultPlan> | undefined
  readonly tell?: ((line: string) => void) | undefined
}

export interface RunResult {
  readonly violation: Violation | undefined
  readonly events: number
}

/** Each step's number must not be mistaken for one of another seed's faults. */
const faultsStep = -2
const restStep = -3

/** One history from one seed: the same seed always makes the same history. */
export async function run({ seed, steps, mistake, only, faults, tell }: RunOptions): Promise<RunResult> {
  const scheduler = new Scheduler(seed, { ...faultPlanOf(randomOf(seed, faultsStep)), ...faults })
  const world = new World({ scheduler, mistake, tell })
  const release = takePauses((delayMs) => scheduler.pause(nobody, delayMs))
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = tell ? 10 : 0
  try {
    for (const step of only ?? Array.from({ length: steps }, (_, index) => index)) {
      scheduler.random = randomOf(seed, step)
      takeStep(world, step)
      await settle()
      if (world.violation) return resultOf(world)
    }
    scheduler.random = randomOf(seed, restStep)
    await comeToRest(world)
    if (!world.violation) await checkAtRest(world)
    return resultOf(world)
  } finally {
    Error.stackTraceLimit = limit
    release()
  }
}

function resultOf({ violation, log }: World): RunResult {
  return { violation, events: log.events.length }
}

const minuteMs = 60_000
const jumpsMs = [minuteMs, 6 * minuteMs, 20 * minuteMs, 3_600_000, 26 * 3_600_000]

/** What happens next: mostly a call ends, sometimes somebody begins something or something breaks. */
function takeStep(world: World, step: number): void {
  const { stage, merchants, leaderships } = world
  const { scheduler, note } = stage
  const { random, faults } = scheduler
  world.elect()
  if (random.chance(faults.crash)) world.crash()
  if (random.chance(faults.deposition)) world.depose()
  if (random.chance(faults.clockJump)) scheduler.advance(random.pick(jumpsMs))
  else scheduler.advance(random.below(1_000))
  if (random.chance(0.1)) {
    note(() => `${step}, at ${scheduler.clock().toISOString()}`)
    merchants.act()
  }
  if (random.chance(0.04)) leaderships.processes.look()
  if (random.chance(0.05)) world.payers.act()
  for (let completions = random.below(5); completions > 0; completions--) scheduler.deliver()
}

/**
 * Between looks at what is due, in the calm: in a week everything has come to its end or to people's notice.
 */
const restMs = [
  1_000,
  40_000,
  3 * minuteMs,
  6 * minuteMs,
  20 * minuteMs,
  3_600_000,
  7 * 3_600_000,
  26 * 3_600_000,
  48 * 3_600_000,
  3_600_000,
]

/** Nothing breaks any more, and nobody asks for anything: all that is under way ends. */
async function comeToRest(world: World): Promise<void> {
  const { scheduler, note } = world.stage
  note(() => 'Faults end, and everything comes to rest')
  scheduler.faults = calm
  for (const delayMs of restMs) {
    await quiet(world)
    scheduler.advance(delayMs)
    await quiet(world)
    world.rail.reconcile((reference) => world.streams.isAskedAbout(reference))
    await quiet(world)
    if (world.violation) return
  }
  if (!world.log.isFollowed || !world.bus.isEmpty)
    world.stage.violate('R5', 'a consumer of the log stands still')
}

/** Lets every call end and every timer that is due run. */
async function quiet(world: World): Promise<void> {
  const {
    leaderships,
    stage: { scheduler },
  } = world
  for (let looks = 0; looks < looksMax; looks++) {
    await drain(world)
    if (world.violation || !leaderships.processes.look()) return
    await settle()
    if (scheduler.pending === 0) return
    if (isIdle(scheduler)) return
  }
  world.stage.violate('R2', 'timers run again and again at the same time')
}

const looksMax = 50
const completionsMax = 20_000
/** What is due so soon is waited for, what is due later belongs to a later look. */
const soonMs = 6_000

function isIdle({ nextDueAt, now }: Scheduler): boolean {
  return nextDueAt !== undefined && nextDueAt > now + soonMs
}

async function drain(world: World): Promise<void> {
  const { scheduler } = world.stage
  for (let completions = 0; completions < completionsMax; completions++) {
    world.elect()
    const isDelivered = scheduler.deliver()
    await settle()
    if (world.violation) return
    if (isDelivered) continue
    const { nextDueAt, now } = scheduler
    if (nextDueAt === undefined || nextDueAt > now + soonMs) return
    scheduler.advance(nextDueAt - now)
  }
  world.stage.violate('R2', 'something goes on for ever')
}
