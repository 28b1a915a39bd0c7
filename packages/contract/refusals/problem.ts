import { nullable, record, Type, type Static } from '../vocabulary.ts'

const FaultResource = record({
  pointer: Type.String({
    description: 'JSON pointer into the body, or `query:/limit`, `header:Ikw-Environment`, `path:id`',
  }),
  code: Type.String({ description: 'The rule that was broken' }),
  message: Type.String(),
})

/** RFC 9457, with the specification's `code`, `message` and `retryable` at the top. */
export const Problem = record({
  type: Type.String({ format: 'uri', description: 'Page about this code' }),
  title: Type.String({ description: 'Name of the status' }),
  status: Type.Integer({ minimum: 400, maximum: 599 }),
  detail: Type.String({ description: 'What happened this time' }),
  instance: Type.String({ format: 'uri-reference', description: 'Path of the request' }),
  code: Type.String({ pattern: '^IKW-[A-Z]+-[0-9]{3}$', description: 'Stable: decide by this' }),
  message: Type.String({ description: 'The rule that was broken, always in the same words' }),
  retryable: Type.Boolean({ description: 'The same request may succeed later' }),
  param: nullable(Type.String({ description: 'Pointer of the first fault' })),
  errors: Type.Array(FaultResource),
  request_id: Type.String(),
})

export type Problem = Static<typeof Problem>
