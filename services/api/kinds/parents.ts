import { refuse } from '../../../packages/contract/refusals.ts'
import type { AnyRoute } from '../../../packages/contract/routes.ts'
import { equal, type Where } from '../../../packages/kernel/read-ports.ts'
import type { AnyRequest } from '../http/request.ts'
import { currentState } from './current-state.ts'

/** What is made or listed within something: that must belong to the caller and be shown. */
export async function requireParent({ within }: AnyRoute, request: AnyRequest): Promise<readonly Where[]> {
  if (!within) return []
  const id = request.params[within.param]!
  const state = await currentState(request, within.parent, id)
  if (state === undefined || !within.parent.row(state as never)) refuse('resource_must_exist')
  return equal({ [within.column]: id })
}

/** What the path names must be a child of the parent that the path names. */
export async function requireOwnParent(
  { operation, within, from }: AnyRoute,
  request: AnyRequest,
): Promise<void> {
  if (!within) return
  if (from?.kind !== 'documents') throw new Error(`${operation}: \`within\` needs \`from\``)
  const state = await currentState(request, from, request.subject!)
  const row = state === undefined ? undefined : from.row(state as never)
  if (row?.[within.column] !== request.params[within.param]) refuse('resource_must_exist')
}
