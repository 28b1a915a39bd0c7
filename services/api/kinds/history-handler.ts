import type { Static } from '../../../packages/contract/vocabulary.ts'
import type { History, HistoryItem } from '../../../packages/contract/history.ts'
import { refuse } from '../../../packages/contract/refusals.ts'
import type { AnyRoute } from '../../../packages/contract/routes.ts'
import { evolve, streamName } from '../../../packages/kernel/decider.ts'
import { recordedEvent } from '../../../packages/kernel/history.ts'
import { owns } from '../../../packages/kernel/owner.ts'
import type { StoredEvent } from '../../../packages/kernel/ports.ts'
import type { Documents } from '../../../packages/kernel/projection.ts'
import type { AnyRequest } from '../http/request.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Every event of one resource, oldest first, with what it changed in the resource as merchants see it. What
 * each caller has by itself has none as long as nobody has changed it.
 */
export async function historyOf(route: AnyRoute, request: AnyRequest): Promise<Static<typeof History>> {
  const { owner, dependencies, path, subject } = request
  const { decider } = route.from as Documents<never>
  const id = subject!
  const events = await dependencies.store.readStream(streamName(decider.category, id), 0)
  const [first] = events
  if (first ? !owns(first.metadata, owner) : !route.subject) refuse('resource_must_exist')
  let state: unknown = decider.initial()
  const shown = ({ metadata: { at } }: StoredEvent) =>
    structuredClone(route.view!(...([id, state, new Date(at)] as never)) ?? {}) as Fields
  let before = first && route.subject ? shown(first) : {}
  const data = events.map((stored): HistoryItem => {
    const { type, data: fact, metadata } = recordedEvent(decider, stored)
    state = evolve(decider, state, { type, data: fact }, metadata)
    const after = shown(stored)
    const changed = difference(before, after)
    before = after
    const { at, actor, request: asked } = metadata
    return { object: 'history_item', type, at, actor, request_id: asked ?? null, changed }
  })
  if (!route.subject && Object.keys(before).length === 0) refuse('resource_must_exist')
  return { object: 'list', url: path, data, has_more: false, next_cursor: null }
}

function difference(before: Fields, after: Fields): HistoryItem['changed'] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const changed: HistoryItem['changed'] = {}
  for (const name of names) {
    const from = before[name] ?? null
    const to = after[name] ?? null
    if (JSON.stringify(from) !== JSON.stringify(to)) changed[name] = { from, to }
  }
  return changed
}
