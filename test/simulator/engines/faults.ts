import type { Random } from '../random.ts'

/** How often things go wrong in one run, as probabilities. */
export interface FaultPlan {
  /** A call is answered at once, so that nothing happens in between. */
  readonly instant: number
  /** The connection to the event store breaks around an append. */
  readonly unknownAppend: number
  /** The event store takes no more. */
  readonly overloaded: number
  /** The connection to the database breaks around a write. */
  readonly brokenWrite: number
  /** The bus keeps what it was given and its answer is lost, or it hands over again what was handled. */
  readonly repeatedMessage: number
  readonly crash: number
  /** A leader loses its lock and goes on until it notices. */
  readonly deposition: number
  /** An operator does nothing, or does not answer, or both. */
  readonly faultyOperator: number
  readonly lostCallback: number
  readonly repeatedCallback: number
  /** A callback is hours late. */
  readonly lateCallback: number
  /** The clock jumps by minutes, hours or days. */
  readonly clockJump: number
}

export const calm: FaultPlan = {
  instant: 0.5,
  unknownAppend: 0,
  overloaded: 0,
  brokenWrite: 0,
  repeatedMessage: 0,
  crash: 0,
  deposition: 0,
  faultyOperator: 0,
  lostCallback: 0,
  repeatedCallback: 0,
  lateCallback: 0,
  clockJump: 0,
}

/** Each run has faults of its own: many faults at once hide what only one of them would show. */
export function faultPlanOf(random: Random): FaultPlan {
  const some = (most: number) => random.pick([0, 0, most / 8, most / 2, most])
  return {
    instant: random.pick([0, 0.3, 0.6, 0.9]),
    unknownAppend: some(0.3),
    overloaded: some(0.05),
    brokenWrite: some(0.2),
    repeatedMessage: some(0.3),
    crash: some(0.06),
    deposition: some(0.06),
    faultyOperator: some(0.3),
    lostCallback: some(0.5),
    repeatedCallback: some(0.5),
    lateCallback: some(0.5),
    clockJump: some(0.1),
  }
}
