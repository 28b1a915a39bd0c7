import { setTimeout as pause } from 'node:timers/promises'
import { erasureUnderWay } from '../../infra/postgres/privacy/erasures.ts'
import type { Comparison, Difference } from './differences.ts'
import { compareOnce, type ReplayOptions } from './replay.ts'

export interface CompareOptions extends ReplayOptions {
  /** How long an erasure that is under way is waited for. */
  readonly patienceMs?: number
}

const roundsMax = 3
const patienceMsDefault = 60_000
const lookEveryMs = 500
/** An erasure that is under way for longer was cut off, and what it has to erase is shown. */
const underWayMostSeconds = 86_400

/**
 * Compares read models with the log. A person who is erased meanwhile makes them differ until they are built
 * anew, so what differs by that alone is compared again.
 */
export async function compareReadModels(options: CompareOptions): Promise<Comparison> {
  let compared = await compareOnce(options)
  for (let round = 1; compared.unsettled.size > 0; round++) {
    await untilErased(options)
    if (round === roundsMax) return { ...compared, differences: await withUnsettled(options, compared) }
    const models = options.models.filter(({ name }) => compared.unsettled.has(name))
    compared = replaced(compared, await compareOnce({ ...options, models }))
  }
  return compared
}

async function untilErased({ pool, breathe, patienceMs = patienceMsDefault }: CompareOptions): Promise<void> {
  const until = performance.now() + patienceMs
  while (performance.now() < until) {
    if (!(await erasureUnderWay(pool))) return
    await breathe?.()
    await pause(lookEveryMs)
  }
}

function replaced(before: Comparison, after: Comparison): Comparison {
  const again = new Set(after.models.map(({ name }) => name))
  const kept = before.differences.filter(({ model }) => !again.has(model))
  const models = before.models.map((one) => after.models.find(({ name }) => name === one.name) ?? one)
  return { models, differences: [...kept, ...after.differences], unsettled: after.unsettled }
}

async function withUnsettled(
  { pool }: CompareOptions,
  { differences, unsettled }: Comparison,
): Promise<readonly Difference[]> {
  const underWay = await erasureUnderWay(pool)
  const isCutOff = underWay !== undefined && underWay.seconds > underWayMostSeconds
  const why = underWay ? `is being erased since ${underWay.since}` : 'was erased meanwhile'
  const told = [...unsettled].map(([model, rows]) => ({
    model,
    row: '',
    problem: `${rows} rows cannot be compared: somebody in them ${why}`,
    ...(!isCutOff && { isToldElsewhere: true as const }),
  }))
  return [...differences, ...told]
}
