import { constants, getPriority, setPriority } from 'node:os'

/** A tenth of a processor for each that others want too. */
const lower = 10

/** Lets everything else go first. On Linux a thread has a priority of its own; elsewhere nothing happens. */
export function lowerThreadPriority(): void {
  if (process.platform !== 'linux') return
  setPriority(Math.min(constants.priority.PRIORITY_LOW, getPriority() + lower))
}
