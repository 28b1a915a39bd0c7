import type { Scheduler } from './scheduler.ts'

/** A mistake that the simulator makes on purpose, to show that it would be found. */
export type Mistake = 'checkpoint before work' | 'new ids on repeat' | 'projector without fence'

/** What all parts of a simulated world share. */
export interface Stage {
  readonly scheduler: Scheduler
  readonly mistake: Mistake | undefined
  readonly newId: () => string
  /** A law was broken. The run ends after this step. */
  readonly violate: (law: string, fact: string) => void
  /** A line of the history, made only when somebody reads it. */
  readonly note: (line: () => string) => void
}
