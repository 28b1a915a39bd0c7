import { refuse } from '../../../packages/contract/refusals.ts'
import type { AnyRoute } from '../../../packages/contract/routes.ts'
import { noStream } from '../../../packages/kernel/ports.ts'
import { currentDocument, currentStream } from './current-state.ts'
import { historyOf } from './history-handler.ts'
import { page } from './list-handler.ts'
import { requireAmongOwn, requireOwnParent, requireParent, requireSubject } from './parents.ts'
import { projectionRow } from './row-handler.ts'
import { viewed } from './viewed.ts'
import type { AnyRequest } from '../http/request.ts'

/** One short function carries out each kind of row. */
export const kinds: Readonly<
  Record<AnyRoute['kind'], (route: AnyRoute, request: AnyRequest) => Promise<unknown>>
> = {
  async create(route, request) {
    const id = route.identity?.((request.body ?? {}) as never, request.caller) ?? request.id
    const outcome = (await request.earlier(route.decider!, id)) ?? (await created(route, request, id))
    if (route.after) await route.after(request as never, outcome as never)
    return viewed(route, request, { id, state: outcome.state })
  },

  async change(route, request) {
    if (route.within) await requireOwnParent(route, request)
    if (route.only) await requireAmongOwn(route, request)
    const id = request.subject!
    const outcome = (await request.earlier(route.decider!, id)) ?? (await changed(route, request, id))
    if (route.after) await route.after(request as never, outcome as never)
    return (await viewed(route, request, { id, state: outcome.state })) ?? refuse('resource_must_exist')
  },

  async show(route, request) {
    const { from } = route
    if (from?.kind === 'projection') return projectionRow(route, request, from)
    if (route.within) await requireOwnParent(route, request)
    if (route.only) await requireAmongOwn(route, request)
    const id = request.subject!
    const decider = from?.decider ?? route.decider!
    const current = await (from
      ? currentDocument(request, from, id)
      : currentStream(request, { decider, id }))
    if (!current && !route.subject) refuse('resource_must_exist')
    const shown = await viewed(route, request, { id, state: current?.state ?? decider.initial() })
    if (shown === undefined) refuse('resource_must_exist')
    request.read(current?.revision ?? noStream, current?.position)
    return shown
  },

  async history(route, request) {
    if (route.within) await requireOwnParent(route, request)
    return historyOf(route, request)
  },

  list: page,

  async items(route, request) {
    const { data, hasMore = false, next = null } = await route.items!(request as never)
    return { object: 'list', url: request.path, data, has_more: hasMore, next_cursor: next }
  },

  async perform(route, request) {
    return route.action!(request as never)
  },

  async redirect(route, request) {
    return route.action!(request as never)
  },
}

async function created(route: AnyRoute, request: AnyRequest, id: string) {
  if (route.within) await requireParent(route, request)
  const command = await commandFor(route, request, id)
  return request.send(route.decider!, id, command, { mustBeNew: !route.identity, isWhole: true })
}

async function changed(route: AnyRoute, request: AnyRequest, id: string) {
  if (route.prepare) await requireSubject(route, request)
  const command = await commandFor(route, request, id)
  return request.send(route.decider!, id, command, { mustExist: !route.subject, isWhole: true })
}

async function commandFor(route: AnyRoute, request: AnyRequest, id: string) {
  return route.prepare ? prepared(route, request) : commandOf(route, request, id)
}

async function prepared(route: AnyRoute, request: AnyRequest) {
  return { type: route.command!, data: await route.prepare!(request as never) }
}

function commandOf(route: AnyRoute, request: AnyRequest, id: string) {
  const { body = {}, owner, dependencies, params } = request
  const context = { id, now: dependencies.clock(owner), ...owner }
  const data = route.data ? route.data(body as never, context as never, params as never) : body
  return { type: route.command!, data }
}
