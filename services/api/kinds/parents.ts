import { refuse } from '../../../packages/contract/refusals.ts'
import type { AnyRoute } from '../../../packages/contract/routes.ts'
import { noStream } from '../../../packages/kernel/ports.ts'
import { equal, type Where } from '../../../packages/kernel/ports/reads.ts'
import type { Documents } from '../../../packages/kernel/projection.ts'
import type { AnyRequest } from '../http/request.ts'
import { currentState, currentStream } from './current-state.ts'

/** What is made or listed within something: that must belong to the caller and be shown. */
export async function requireParent({ within }: AnyRoute, request: AnyRequest): Promise<readonly Where[]> {
  if (!within) return []
  const id = request.params[within.param]!
  const state = await currentState(request, within.parent, id)
  if (state === undefined || !within.parent.row(state as never)) refuse('resource_must_exist')
  return equal({ [within.column]: id })
}

/** What the path names must be a child of the parent that the path names, which must be shown itself. */
export async function requireOwnParent(route: AnyRoute, request: AnyRequest): Promise<void> {
  const { operation, within, from } = route
  if (!within) return
  if (from?.kind !== 'documents') throw new Error(`${operation}: \`within\` needs \`from\``)
  await requireParent(route, request)
  const state = await currentState(request, from, request.subject!)
  const row = state === undefined ? undefined : from.row(state as never)
  if (row?.[within.column] !== request.params[within.param]) refuse('resource_must_exist')
}

/** The same where the row narrows what its callers see. */
export async function requireAmongOwn(
  { operation, only, from }: AnyRoute,
  request: AnyRequest,
): Promise<void> {
  if (!only) return
  if (from?.kind !== 'documents') throw new Error(`${operation}: \`only\` needs \`from\``)
  await requireAmong(request, { from, id: request.subject!, columns: only(request.caller) })
}

interface Among {
  readonly from: Documents<never>
  readonly id: string
  readonly columns: Readonly<Record<string, string | readonly string[]>>
}

export async function requireAmong(
  request: Pick<AnyRequest, 'owner' | 'dependencies'>,
  { from, id, columns }: Among,
): Promise<void> {
  const state = await currentState(request, from, id)
  const row = state === undefined ? undefined : from.row(state as never)
  const isAmong = ([name, value]: readonly [string, string | readonly string[]]) =>
    [value].flat().includes(String(row?.[name]))
  if (!row || !Object.entries(columns).every(isAmong)) refuse('resource_must_exist')
}

/**
 * Before `prepare` writes to other streams: what is changed is there and is as the client saw it. Its own
 * command is bound to that again, for it may change in between.
 */
export async function requireSubject({ decider, subject }: AnyRoute, request: AnyRequest): Promise<void> {
  // An earlier try may have changed it already.
  if (request.isResumed) return
  const current = await currentStream(request, { decider: decider!, id: request.subject! })
  if (!current && !subject) refuse('resource_must_exist')
  const revision = current?.revision ?? noStream
  if (request.ifRevision !== undefined && request.ifRevision !== revision)
    refuse('resource_must_be_as_it_was_seen')
}
