import { refuseField } from '../../../packages/contract/refusals.ts'
import type { Request } from '../../../packages/contract/routes.ts'
import { ownerOf } from '../../../packages/kernel/owner.ts'

type RequestPart = Pick<Request, 'owner' | 'dependencies'>

/** A place in a list, valid for its owner and this list only. It stays put while new items arrive. */
export function cursorAt({ owner, dependencies }: RequestPart, list: string, place: number): string {
  return dependencies.opaque.seal(place, contextOf(owner, list))
}

/** The place that a cursor encodes; refused when it is not a cursor of this list. */
export function placeOf({ owner, dependencies }: RequestPart, list: string, cursor: string): number {
  return (
    dependencies.opaque.open(cursor, contextOf(owner, list)) ??
    refuseField('request_must_be_valid', 'query:/cursor', 'cursor is none that this list has answered')
  )
}

function contextOf(owner: Request['owner'], list: string): string {
  return JSON.stringify(['cursor', list, ownerOf(owner)])
}
