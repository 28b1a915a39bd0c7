import type { Payloads } from './decider.ts'
import { ownedBy, type MerchantOwner, type Owner } from './owner.ts'
import type { Change, RecordedEvent } from './projection.ts'

/** The timers that one family's events start and stop. */
export type TimerHandlers = Readonly<Record<string, (event: RecordedEvent<never>) => readonly Change[]>>

export function timerHandlers<Events extends Payloads, O extends Owner = MerchantOwner>(handlers: {
  readonly [Type in keyof Events & string]?: (event: RecordedEvent<Events[Type], O>) => readonly Change[]
}): TimerHandlers {
  return handlers as unknown as TimerHandlers
}

/** Due at this time; starting it again with the same kind and subject replaces the time. */
export function start(
  kind: string,
  subject: string,
  { metadata }: RecordedEvent<object, Owner>,
  dueAt: Date | string,
): Change {
  const due_at = typeof dueAt === 'string' ? dueAt : dueAt.toISOString()
  return { put: Object.assign({ id: `${kind}:${subject}`, kind, subject, due_at }, ownedBy(metadata)) }
}

/** Of an event that each stream has once: no earlier one has started this timer, which makes it cheaper. */
export function startedOnce(change: Change): Change {
  return 'put' in change ? { ...change, isNew: true } : change
}

export function stop(kind: string, subject: string): Change {
  return { remove: { id: `${kind}:${subject}` } }
}
