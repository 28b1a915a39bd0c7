import { refuse } from '../../../packages/contract/refusals.ts'
import type { AnyRoute } from '../../../packages/contract/routes.ts'
import { streamName, type AnyDecider } from '../../../packages/kernel/decider.ts'
import { foldStored } from '../../../packages/kernel/history.ts'
import { owns } from '../../../packages/kernel/owner.ts'
import { noStream, type StoredEvent } from '../../../packages/kernel/ports.ts'
import type { Documents } from '../../../packages/kernel/projection.ts'
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
    request.read(current.revision)
    return shown
  },

  list: page,

  async perform(route, request) {
    return route.action!(request as never)
  },
}

function commandOf(route: AnyRoute, { body, caller, dependencies }: AnyRequest, id: string) {
  const context = { id, merchant: caller.merchant, livemode: caller.livemode, now: dependencies.clock() }
  const data = route.data ? route.data((body ?? {}) as never, context) : (body ?? {})
  return { type: route.command!, data }
}

/**
 * The state of one stream as it is now: what memory or the read model knows, and what the stream has beyond
 * that, which is mostly nothing. `undefined` when there is none, or it is another merchant's or the other
 * environment's.
 */
export async function currentState(
  request: Pick<AnyRequest, 'caller' | 'dependencies'>,
  from: Documents<never>,
  id: string,
): Promise<unknown> {
  return (await currentDocument(request, from, id))?.state
}

async function currentDocument(
  { caller, dependencies }: Pick<AnyRequest, 'caller' | 'dependencies'>,
  from: Documents<never>,
  id: string,
): Promise<{ readonly state: unknown; readonly revision: number } | undefined> {
  const { decider } = from
  const known = dependencies.executor.remembered(decider, id) ?? (await documentOf(dependencies, from, id))
  if (known && !owns(known.owner, caller)) return undefined
  const tail = await dependencies.store.readStream(
    streamName(decider.category, id),
    (known?.revision ?? noStream) + 1,
  )
  if (!known && !(tail[0] && owns(tail[0].metadata, caller))) return undefined
  const revision = tail.at(-1)?.revision ?? known!.revision
  return { state: stateAfter(decider, tail, known?.state), revision }
}

async function documentOf(dependencies: AnyRequest['dependencies'], from: Documents<never>, id: string) {
  const row = await dependencies.reads.document(from.name, id)
  return row && { state: row.state, revision: row.revision, owner: row }
}

function stateAfter(decider: AnyDecider, tail: readonly StoredEvent[], known: unknown): unknown {
  return tail.length === 0 ? known : foldStored(decider, tail, known ?? decider.initial())
}
