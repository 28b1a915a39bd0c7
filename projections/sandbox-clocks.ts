import { sandboxClock } from '../packages/domain/sandbox-clocks/sandbox-clock.ts'
import { documents } from '../packages/kernel/projection.ts'

export const sandboxClockDocuments = documents(sandboxClock, {
  name: 'sandbox_clocks',
  version: 2,
  columns: {},
  row: () => ({}),
  indexes: [],
})
