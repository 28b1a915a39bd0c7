import type { Payloads } from '../packages/kernel/decider.ts'
import type { Change, RecordedEvent } from '../packages/kernel/projection.ts'
import { projection } from '../packages/kernel/projection.ts'

/** What one family's events start and stop. */
export type TimerHandlers = Readonly<Record<string, (event: RecordedEvent<never>) => readonly Change[]>>

export function timerHandlers<Events extends Payloads>(handlers: {
  readonly [Type in keyof Events & string]?: (event: RecordedEvent<Events[Type]>) => readonly Change[]
}): TimerHandlers {
  return handlers as TimerHandlers
}

/** Due at a time; started again with the same kind and subject, it takes the new time. */
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

/** What is due, when, and for whom: rebuilt from the log like every other read model. */
export function timersOf(families: readonly TimerHandlers[]) {
  const on: Record<string, (event: RecordedEvent<never>) => readonly Change[]> = {}
  for (const handlers of families) {
    for (const [type, handle] of Object.entries(handlers)) {
      const earlier = on[type]
      on[type] = earlier ? (event) => [...earlier(event), ...handle(event)] : handle
    }
  }
  return projection<Record<string, never>>()({
    name: 'timers',
    version: 2,
    columns: {
      id: 'text',
      kind: 'text',
      subject: 'text',
      merchant: 'text',
      livemode: 'boolean',
      due_at: 'timestamptz',
    },
    key: ['id'],
    indexes: [['due_at']],
    on,
  })
}
