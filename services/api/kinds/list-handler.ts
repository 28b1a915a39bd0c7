import { identity } from '../../../packages/contract/identity.ts'
import { refuse, refuseField } from '../../../packages/contract/refusals.ts'
import type { AnyRoute } from '../../../packages/contract/routes.ts'
import { ownedBy, ownerOf, type Owner } from '../../../packages/kernel/owner.ts'
import { equal, type PageQuery, type Where } from '../../../packages/kernel/read-ports.ts'
import { prefixesOf } from './prefixes.ts'
import type { AnyRequest } from '../http/request.ts'

const waitForOwnWritesMs = 1_000

type ListQuery = Readonly<Record<string, string | number | undefined>>

/** One page of a read model, newest first. It waits for what this process last wrote for the merchant. */
export async function page(route: AnyRoute, request: AnyRequest): Promise<unknown> {
  const { caller, dependencies } = request
  const query = request.query as ListQuery
  await waitForWrites(request)
  const { name } = route.from!
  const order = route.order ?? 'created'
  const limit = Number(query['limit'] ?? 10)
  const number = Number(query['page'] ?? 1)
  const backwards = query['ending_before'] !== undefined
  const asked: PageQuery = {
    from: name,
    share: shareOf(caller),
    ...(route.from!.kind === 'documents' && { columns: ['id', 'state', order] }),
    where: [...conditions(route, query), ...owned(caller, route)],
    bounds: await cursorBounds(query, { route, order, request }),
    order,
    ascending: backwards,
    limit: limit + 1,
    offset: (number - 1) * limit,
    count: route.paging === 'page',
  }
  const { rows, total, position } = await dependencies.reads.page<Readonly<Record<string, unknown>>>(asked)
  const shown = backwards ? rows.slice(0, limit).toReversed() : rows.slice(0, limit)
  const more = rows.length > limit
  request.showed(position)
  return {
    object: 'list',
    url: request.path,
    data: shown.map((row) =>
      route.from!.kind === 'documents' ? viewed(route, row) : route.view!(...([row] as never)),
    ),
    has_more: more,
    next_cursor: more && !backwards ? encodeCursor(Number(shown.at(-1)![order])) : null,
    ...(route.paging === 'page' && { page: number, limit, total_count: total ?? 0 }),
  }
}

/** Live is not held up by what somebody tries out in sandbox. */
export function shareOf(owner: Owner): string {
  return JSON.stringify(ownerOf(owner))
}

function viewed(route: AnyRoute, row: Readonly<Record<string, unknown>>): unknown {
  return route.view!(...([row['id'], row['state']] as never))
}

async function waitForWrites({ dependencies, minPosition, lastWritten }: AnyRequest): Promise<void> {
  if (minPosition !== undefined) {
    const reached = await dependencies.reads.reached(minPosition, waitForOwnWritesMs)
    if (!reached) refuse('read_model_must_have_caught_up', { retryAfterSeconds: 1 })
  } else if (lastWritten > 0) await dependencies.reads.reached(lastWritten, waitForOwnWritesMs)
}

function owned(caller: AnyRequest['caller'], route: AnyRoute): Where[] {
  const shown = route.from!.kind === 'documents' && { shown: true }
  return equal({ ...ownedBy(caller), ...shown, ...route.only })
}

function conditions(route: AnyRoute, query: ListQuery): Where[] {
  const where: Where[] = []
  for (const name of Object.keys(route.filter ?? {})) {
    const value = query[name]
    if (value !== undefined) where.push({ column: name, operator: '=', value })
  }
  if (route.period && query['from'] !== undefined)
    where.push({ column: route.period, operator: '>=', value: query['from'] })
  if (route.period && query['to'] !== undefined)
    where.push({ column: route.period, operator: '<=', value: query['to'] })
  if (route.search && query['search'] !== undefined) {
    const pattern = `%${String(query['search']).replaceAll(/[\\%_]/g, '\\$&')}%`
    where.push({ column: route.search, operator: 'ilike', value: pattern })
  }
  return where
}

interface CursorContext {
  readonly route: AnyRoute
  readonly order: string
  readonly request: AnyRequest
}

async function cursorBounds(query: ListQuery, { route, order, request }: CursorContext): Promise<Where[]> {
  const bounds: Where[] = []
  if (query['cursor'] !== undefined)
    bounds.push({ column: order, operator: '<', value: decodeCursor(String(query['cursor'])) })
  for (const [name, operator] of [
    ['starting_after', '<'],
    ['ending_before', '>'],
  ] as const) {
    const text = query[name]
    if (text === undefined) continue
    const id = identity(String(text), ...prefixesOf(route))
    const row =
      id &&
      (await request.dependencies.reads.page<Record<string, number>>({
        from: route.from!.name,
        share: shareOf(request.caller),
        where: [{ column: 'id', operator: '=', value: id }, ...owned(request.caller, route)],
        order,
        limit: 1,
      }))
    const at = row && row.rows[0]?.[order]
    if (at === undefined || at === '')
      refuseField('request_must_be_valid', `query:/${name}`, `${name} names nothing in this list`)
    bounds.push({ column: order, operator, value: Number(at) })
  }
  return bounds
}

/** Opaque, and stable under inserts: the place in the order of creation. */
function encodeCursor(place: number): string {
  return Buffer.from(`1:${place}`).toString('base64url')
}

function decodeCursor(cursor: string): number {
  const [, place] = /^1:(\d{1,16})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (place === undefined)
    refuseField('request_must_be_valid', 'query:/cursor', 'cursor is none that a list has answered')
  return Number(place)
}
