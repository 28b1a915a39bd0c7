import { refuse } from '../../../packages/contract/refusals.ts'
import type { AnyRoute } from '../../../packages/contract/routes.ts'
import type { Documents } from '../../../packages/kernel/projection.ts'
import { currentDocument } from './current-state.ts'
import { historyOf } from './history-handler.ts'
import { page } from './list-handler.ts'
import type { AnyRequest } from '../http/request.ts'

/** One short function carries out each kind of row. */
export const kinds: Readonly<
  Record<AnyRoute['kind'], (route: AnyRoute, request: AnyRequest) => Promise<unknown>>
> = {
  async create(route, request) {
    const decider = route.decider!
    const id = route.identity?.((request.body ?? {}) as never, request.caller) ?? request.id
    const command = commandOf(route, request, id)
    const { state } = await request.send(decider, id, command, {
      mustBeNew: !route.identity,
      isWhole: true,
    })
    return route.view!(...([id, state] as never))
  },

  async change(route, request) {
    const id = request.params['id']!
    const { state } = await request.send(route.decider!, id, commandOf(route, request, id), {
      mustExist: true,
      isWhole: true,
    })
    return route.view!(...([id, state] as never)) ?? refuse('resource_must_exist')
  },

  async show(route, request) {
    const id = request.params['id']!
    const current = await currentDocument(request, route.from as Documents<never>, id)
    const shown = current && route.view!(...([id, current.state] as never))
    if (!shown) return refuse('resource_must_exist')
    request.read(current.revision, current.position)
    return shown
  },

  history: historyOf,

  list: page,

  async perform(route, request) {
    return route.action!(request as never)
  },
}

function commandOf(route: AnyRoute, { body, owner, dependencies }: AnyRequest, id: string) {
  const context = { ...owner, id, now: dependencies.clock(owner) }
  const data = route.data ? route.data((body ?? {}) as never, context as never) : (body ?? {})
  return { type: route.command!, data }
}
