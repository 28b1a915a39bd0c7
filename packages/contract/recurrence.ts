import { literals, nullable, record, Timestamp, Type } from './vocabulary.ts'

/** How a recurrence of the kernel is stored in events. */
export const StoredRecurrence = record({
  anchor: Timestamp,
  unit: literals('day', 'week', 'month', 'year'),
  every: Type.Integer({ minimum: 1 }),
  count: nullable(Type.Integer({ minimum: 1 })),
  timeZone: Type.String(),
})
