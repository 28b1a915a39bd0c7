import type { LogFilter, StoredEvent } from '../../packages/kernel/ports.ts'

/** A piece of the log as of one moment. */
export interface Window {
  readonly events: readonly StoredEvent[]
  /** Complete up to here, except for what the filter drops. */
  readonly through: number
  /** Position of the newest event at that moment. */
  readonly head: number
}

/** Where pieces of the log come from when memory does not have them. */
export interface Pages {
  window(after: number, limit: number, filter: LogFilter): Promise<Window>
}
