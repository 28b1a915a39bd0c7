import { rangeBounds } from '../../../packages/contract/lists/query.ts'
import { refuse } from '../../../packages/contract/refusals.ts'
import type { AnyRoute } from '../../../packages/contract/routes.ts'
import type { PageQuery, Where } from '../../../packages/kernel/ports/reads.ts'
import type { AnyRequest } from '../http/request.ts'
import { cursorAt } from './cursors.ts'
import { boundOf } from './list-bounds.ts'
import { shareOf } from '../../../infra/postgres/client/shared-reads.ts'
import { listName, owned } from './list-scope.ts'
import { requireParent } from './parents.ts'
import { viewed } from './viewed.ts'

const waitForOwnWritesMs = 1_000

type ListQuery = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/** One page of a read model, newest first. It waits for this process's last write for the owner. */
export async function page(route: AnyRoute, request: AnyRequest): Promise<unknown> {
  const { owner, dependencies } = request
  const query = request.query as ListQuery
  const within = await requireParent(route, request)
  const { name } = route.from!
  await waitForWrites(request, name)
  const order = route.order ?? 'created'
  const limit = Number(query['limit'] ?? 10)
  const number = Number(query['page'] ?? 1)
  const bound = await boundOf(route, request)
  const isBackwards = bound?.operator === '>'
  const asked: PageQuery = {
    from: name,
    share: shareOf(owner),
    ...(route.from!.kind === 'documents' && { columns: ['id', 'state', order] }),
    where: [...conditions(route, query), ...owned(request, route), ...within],
    bounds: bound ? [{ column: order, operator: bound.operator, value: bound.place }] : [],
    order,
    ascending: isBackwards,
    limit: limit + 1,
    offset: (number - 1) * limit,
    count: route.paging === 'page',
  }
  const { rows, total, position } = await dependencies.reads.page<Shown>(asked)
  const shown = isBackwards ? rows.slice(0, limit).toReversed() : rows.slice(0, limit)
  request.showed(position)
  // The item that ends a page is itself beyond the page.
  const last = Number(shown.at(-1)?.[order] ?? (bound ? bound.place + 1 : 0))
  const hasMore = isBackwards || rows.length > limit
  return {
    object: 'list',
    url: request.path,
    data: await viewedAll(route, request, shown),
    has_more: hasMore,
    next_cursor: hasMore ? cursorAt(request, listName(route, request.caller), last) : null,
    ...(route.paging === 'page' && { page: number, limit, total_count: total ?? 0 }),
  }
}

type Shown = Readonly<Record<string, unknown>>

async function viewedAll(route: AnyRoute, request: AnyRequest, rows: readonly Shown[]): Promise<unknown[]> {
  if (route.from!.kind === 'projection') return rows.map((row) => route.view!(...([row] as never)))
  const found = rows.map((row) => ({ id: String(row['id']), state: row['state'] }))
  return Promise.all(found.map((each) => viewed(route, request, each)))
}

/** Its own read model is waited for: another one may be behind, or be built anew. */
async function waitForWrites(
  { dependencies, minPosition, lastWritten }: AnyRequest,
  name: string,
): Promise<void> {
  const { reads } = dependencies
  if (minPosition !== undefined) {
    const isReached = await reads.reached(minPosition, waitForOwnWritesMs, name)
    if (!isReached) refuse('read_model_must_have_caught_up', { retryAfterSeconds: 1 })
  } else if (lastWritten > 0) await reads.reached(lastWritten, waitForOwnWritesMs, name)
}

function conditions({ filter = {}, ranges = {}, period, search }: AnyRoute, query: ListQuery): Where[] {
  const where: Where[] = []
  const add = (column: string, operator: Where['operator'], value: Where['value'] | undefined) => {
    if (value !== undefined) where.push({ column, operator, value })
  }
  for (const name of Object.keys(filter)) {
    const [value, ...others] = [query[name]].flat()
    if (others.length === 0) add(name, '=', value)
    else add(name, 'in', query[name])
  }
  for (const name of Object.keys(ranges))
    for (const [bound, operator] of Object.entries(rangeBounds))
      add(name, operator, query[`${name}[${bound}]`])
  if (period) {
    add(period, '>=', query['from'])
    add(period, '<=', query['to'])
  }
  if (search && query['search'] !== undefined)
    add(search, 'ilike', `%${String(query['search']).replaceAll(/[\\%_]/g, '\\$&')}%`)
  return where
}
