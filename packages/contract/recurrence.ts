import { literals, nullable, record, Timestamp, Type } from './vocabulary.ts'

/** A kernel recurrence as stored in events. */
export const StoredRecurrence = record({
  anchor: Timestamp,
  unit: literals('day', 'week', 'month', 'year'),
  every: Type.Integer({ minimum: 1 }),
  count: nullable(Type.Integer({ minimum: 1 })),
  timeZone: Type.String(),
})
