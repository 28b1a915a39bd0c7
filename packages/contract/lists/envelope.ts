import { Identity, literals, nullable, record, Type, type TSchema } from '../vocabulary.ts'

/** An id filter in either spelling; columns hold the bare UUID. */
export const IdentityFilter = Type.String({ ...Identity, 'x-normalize': 'uuid' })

/** The envelope of a list that an action builds itself. */
export function listed<Item extends TSchema>(item: Item) {
  return record({
    object: literals('list'),
    url: Type.String(),
    data: Type.Array(item),
    has_more: Type.Boolean({ description: 'There is more behind this page' }),
    next_cursor: nullable(Type.String({ description: '`cursor` of the next page' })),
  })
}
