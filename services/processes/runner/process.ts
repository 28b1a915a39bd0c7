import type { Dependencies } from '../../../packages/contract/routes.ts'
import type { Outcome } from '../../../packages/kernel/execution/options.ts'
import type { PolicyCommand } from '../../../packages/kernel/policy.ts'
import type { RailCallback } from '../../../packages/kernel/ports/rails.ts'
import type { DueTimer } from '../../../packages/kernel/ports/reads.ts'
import type { RecordedEvent } from '../../../packages/kernel/projection.ts'
import type { Owner } from '../../../packages/kernel/owner.ts'

/** What the work of a process may use. */
export interface Tools {
  readonly dependencies: Dependencies
  /** Set for a merchant whose clock was moved: other timers may be due before this one's next period. */
  readonly onePeriod?: true
  /**
   * Sends a command in the name of the rail or of a timer; a repeat decides nothing. Throws the decision's
   * refusal.
   */
  send(order: PolicyCommand, owner: Owner, actor: 'rail' | 'timer'): Promise<Outcome<unknown>>
  /** The same for several commands of one stream, in one write: all or none. */
  sendAll(
    orders: readonly [PolicyCommand, ...PolicyCommand[]],
    owner: Owner,
    actor: 'rail' | 'timer',
  ): Promise<Outcome<unknown>>
}

/** An event whose work in the outside world is done at least once. */
export interface Reaction {
  readonly event: RecordedEvent<never>
  /** True after a crash: the work may have been started, so ask for its result before doing it again. */
  readonly mayHaveRun: boolean
  readonly tools: Tools
}

interface Working {
  /** As a method, so that a family says for which kind of owner its timers are: those of its own streams. */
  work(timer: DueTimer<Owner>, tools: Tools): Promise<Date | undefined>
}

type TimerWork = Working['work']

/**
 * What a family does on its own, besides its policies: reactions (event -> the outside world), timers (rows
 * of the read model `timers`, by kind) and callbacks of payment rails (by kind of operation).
 */
export interface Process {
  readonly reactions?: Readonly<Record<string, (reaction: Reaction) => Promise<void>>>
  /** Returns when to run again; `undefined` when an event has removed the timer, or is about to. */
  readonly timers?: Readonly<Record<string, TimerWork>>
  readonly callbacks?: Readonly<
    Partial<Record<RailCallback['kind'], (callback: RailCallback, tools: Tools) => Promise<void>>>
  >
}
