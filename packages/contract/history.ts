import { literals, nullable, record, Timestamp, Type, type Static } from './vocabulary.ts'

const AnyValue = Type.Unsafe<unknown>({ description: 'Any JSON value' })

export const HistoryItem = record({
  object: literals('history_item'),
  type: Type.String({ description: 'What happened: the type of the event' }),
  at: Timestamp,
  actor: Type.String({ description: 'Who did it: key:<id>, policy:<name>, rail or timer' }),
  request_id: nullable(Type.String({ description: 'The request that asked for it, where one did' })),
  changed: Type.Unsafe<Record<string, { from: unknown; to: unknown }>>({
    type: 'object',
    additionalProperties: { type: 'object', properties: { from: AnyValue, to: AnyValue } },
    description: 'The fields of the resource that are not as they were before',
  }),
})

export type HistoryItem = Static<typeof HistoryItem>

/** All events of one resource, oldest first. */
export const History = record({
  object: literals('list'),
  url: Type.String({ description: 'Path of this list' }),
  data: Type.Array(HistoryItem),
  has_more: Type.Boolean({ description: 'Always false: it is all of it' }),
  next_cursor: Type.Null({ description: 'Always null' }),
})
