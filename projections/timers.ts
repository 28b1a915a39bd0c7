import { families } from '../packages/domain/index.ts'
import { projection } from '../packages/kernel/projection.ts'
import type { TimerHandlers } from '../packages/kernel/timer.ts'

/** What is due, when and for whom: rebuilt from the log like every other read model. */
export const timers = projection<Record<string, never>>()({
  name: 'timers',
  version: 8,
  columns: {
    id: 'text',
    kind: 'text',
    subject: 'text',
    merchant: 'text',
    livemode: 'boolean',
    organization: 'text',
    user: 'text',
    due_at: 'timestamptz',
  },
  key: ['id'],
  indexes: [
    ['due_at', 'id'],
    ['merchant', 'due_at'],
  ],
  on: together(families.map(({ timers: handlers = {} }) => handlers)),
})

/** Several families may follow the same event. */
function together(families: readonly TimerHandlers[]): TimerHandlers {
  const on: Record<string, TimerHandlers[string]> = {}
  for (const handlers of families) {
    for (const [type, handle] of Object.entries(handlers)) {
      const earlier = on[type]
      on[type] = earlier ? (event) => [...earlier(event), ...handle(event)] : handle
    }
  }
  return on
}
