import { refuseField } from '../../../packages/contract/refusals.ts'
import type { AnyRoute } from '../../../packages/contract/routes.ts'
import type { Where } from '../../../packages/kernel/ports/reads.ts'
import type { AnyRequest } from '../http/request.ts'
import { placeOf } from './cursors.ts'
import { shareOf } from '../../../infra/postgres/client/shared-reads.ts'
import { listName, owned } from './list-scope.ts'
import { itemId } from './prefixes.ts'

const ways = ['cursor', 'starting_after', 'ending_before', 'page'] as const

/** Where a page begins or ends: one of the ways to say it, or none. */
export interface Bound {
  readonly operator: '<' | '>'
  readonly place: number
}

export async function boundOf(route: AnyRoute, request: AnyRequest): Promise<Bound | undefined> {
  const { query } = request
  const [way, other] = ways.filter((one) => query[one] !== undefined)
  if (other !== undefined)
    refuseField('request_must_be_valid', `query:/${other}`, `${way} and ${other} cannot be given together`)
  if (way === 'cursor')
    return {
      operator: '<',
      place: placeOf(request, listName(route, request.caller), String(query['cursor'])),
    }
  if (way === 'starting_after') return { operator: '<', place: await placeOfItem(route, request, way) }
  if (way === 'ending_before') return { operator: '>', place: await placeOfItem(route, request, way) }
  return undefined
}

async function placeOfItem(
  route: AnyRoute,
  { query, owner, caller, dependencies }: AnyRequest,
  name: 'starting_after' | 'ending_before',
): Promise<number> {
  const id = itemId(route, String(query[name]))
  const named: Where = { column: 'id', operator: '=', value: id ?? '' }
  const order = route.order ?? 'created'
  const { rows } = await dependencies.reads.page<Record<string, number>>({
    from: route.from!.name,
    share: shareOf(owner),
    where: [named, ...owned({ owner, caller }, route)],
    order,
    limit: 1,
  })
  const place = rows[0]?.[order]
  if (place !== undefined) return place
  return refuseField('request_must_be_valid', `query:/${name}`, `${name} names nothing in this list`)
}
