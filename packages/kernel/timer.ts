import type { Payloads } from './decider.ts'
import type { Change, RecordedEvent } from './projection.ts'

/** The timers that one family's events start and stop. */
export type TimerHandlers = Readonly<Record<string, (event: RecordedEvent<never>) => readonly Change[]>>

export function timerHandlers<Events extends Payloads>(handlers: {
  readonly [Type in keyof Events & string]?: (event: RecordedEvent<Events[Type]>) => readonly Change[]
}): TimerHandlers {
  return handlers as TimerHandlers
}

/** Due at this time; starting it again with the same kind and subject replaces the time. */
export function start(
  kind: string,
  subject: string,
  { metadata }: RecordedEvent,
  dueAt: Date | string,
): Change {
  const { merchant, livemode } = metadata
  const due_at = typeof dueAt === 'string' ? dueAt : dueAt.toISOString()
  return { put: { id: `${kind}:${subject}`, kind, subject, merchant, livemode, due_at } }
}

export function stop(kind: string, subject: string): Change {
  return { remove: { id: `${kind}:${subject}` } }
}
