import { seeded } from '../support/random.ts'
import { Ends } from '../support/processes/ending.ts'
import { violations, type Stage, type Violation } from './evidence.ts'
import type { Fault } from './faults.ts'
import { settle } from './settling.ts'
import { openWorld, type World, type WorldOptions } from './world.ts'

/** One line of the table. */
export interface Row {
  readonly fault: string
  readonly injected: number
  readonly acknowledged: number
  readonly lost: number
  readonly doubled: number
  readonly unavailableSeconds: number
}

export interface Report {
  readonly rows: readonly Row[]
  readonly violations: readonly Violation[]
  /** Left out: everything has come to its end. */
  readonly unsettled?: object
  /** Faults that could not be carried out, mostly because the service never did what they wait for. */
  readonly failures: readonly string[]
  /** What processes said that ended by themselves and were started again. */
  readonly casualties: readonly string[]
}

export interface RunOptions extends Omit<WorldOptions, 'random'> {
  readonly seed: number
  readonly faults: readonly Fault[]
  /** So long everything has time to come to its end when the load has stopped. */
  readonly settleMs?: number
  readonly onStage?: (name: string) => void
  /** For who may have to end it before its time. */
  readonly ends?: Ends
}

interface Staged extends Stage {
  readonly from: number
  readonly through: number
  readonly injected: number
}

const settleMsDefault = 90_000

/** Starts everything, lets one fault after the other happen under load, and looks what has become of it. */
export async function run(options: RunOptions): Promise<Report> {
  const { seed, faults, settleMs = settleMsDefault, onStage, ends = new Ends(), ...rest } = options
  try {
    const world = await openWorld(ends, { ...rest, random: seeded(seed) })
    world.load.stage = faults[0]?.name ?? ''
    world.load.start()
    const stages: Staged[] = []
    const failures: string[] = []
    for (const fault of faults) {
      onStage?.(fault.name)
      stages.push(await carryOut(world, fault, failures))
    }
    await Promise.all([world.load.stop(), world.prober.stop()])
    onStage?.('settling')
    const unsettled = await settle(world, settleMs)
    onStage?.('checking')
    const broken = await violations(evidenceOf(world, stages))
    const { casualties } = world.fleet
    return {
      rows: rowsOf(world, stages, broken),
      violations: broken,
      failures,
      casualties,
      ...(unsettled && { unsettled }),
    }
  } finally {
    await ends.run()
  }
}

async function carryOut(world: World, { name, inject }: Fault, failures: string[]): Promise<Staged> {
  world.load.stage = name
  const stage = { name, began: new Date(), from: performance.now() }
  const injected = await inject(world).catch((error: unknown) => {
    failures.push(`${name}: ${String(error)}`)
    return 0
  })
  return { ...stage, through: performance.now(), injected }
}

function evidenceOf({ postgres, history, operators, load, sink, hooks }: World, stages: readonly Stage[]) {
  const { asked } = load
  const { received } = sink
  return { service: postgres.pool, history, operators: operators.pool, asked, received, hooks, stages }
}

function rowsOf(
  { load, prober }: World,
  stages: readonly Staged[],
  broken: readonly Violation[],
): readonly Row[] {
  const count = (kind: Violation['kind'], stage: string) => {
    const counts = broken.filter((one) => one.kind === kind).map((one) => one.stages[stage] ?? 0)
    return counts.reduce((sum, one) => sum + one, 0)
  }
  return stages.map(({ name, injected, from, through }) => ({
    fault: name,
    injected,
    acknowledged: load.asked.filter(({ stage, answer }) => stage === name && (answer?.status ?? 500) < 300)
      .length,
    lost: count('lost', name),
    doubled: count('doubled', name),
    unavailableSeconds: prober.longestGapSeconds(from, through),
  }))
}
