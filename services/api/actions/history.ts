import { identity } from '../../../packages/contract/identity.ts'
import { refuse } from '../../../packages/contract/refusals.ts'
import type { Request } from '../../../packages/contract/routes.ts'
import { literals, record, Timestamp, Type, type Static } from '../../../packages/contract/vocabulary.ts'
import {
  evolve,
  streamName,
  type Decider,
  type Message,
  type Payloads,
} from '../../../packages/kernel/decider.ts'
import { recordedEvent } from '../../../packages/kernel/history.ts'
import { owns } from '../../../packages/kernel/owner.ts'

const AnyValue = Type.Unsafe<unknown>({ description: 'Any JSON value' })

export const HistoryItem = record({
  object: literals('history_item'),
  type: Type.String({ description: 'What happened: the type of the event' }),
  at: Timestamp,
  actor: Type.String({ description: 'Who did it: key:<id>, policy:<name>, rail or timer' }),
  request_id: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  changed: Type.Unsafe<Record<string, { from: unknown; to: unknown }>>({
    type: 'object',
    additionalProperties: { type: 'object', properties: { from: AnyValue, to: AnyValue } },
    description: 'The fields of the resource that are not as they were before',
  }),
})

export const History = record({
  object: literals('list'),
  url: Type.String(),
  data: Type.Array(HistoryItem),
  has_more: Type.Boolean(),
  next_cursor: Type.Null(),
})

type View<S> = (id: string, state: S) => Readonly<Record<string, unknown>> | undefined

/** Every event of one resource, oldest first, with what it changed in the resource as merchants see it. */
export function historyOf<S, C extends Payloads, E extends Payloads>(
  decider: Decider<S, C, E>,
  view: View<S>,
) {
  return async ({ caller, params, dependencies, path }: Request): Promise<Static<typeof History>> => {
    const id = identity(params['id']!) ?? refuse('resource_must_exist')
    const events = await dependencies.store.readStream(streamName(decider.category, id), 0)
    if (!events[0] || !owns(events[0].metadata, caller)) refuse('resource_must_exist')
    let state = decider.initial()
    let before: Readonly<Record<string, unknown>> = {}
    const data = events.map((stored): Static<typeof HistoryItem> => {
      const { type, data: fact, metadata } = recordedEvent(decider, stored)
      state = evolve(decider, state, { type, data: fact } as Message<E>, metadata)
      const after = structuredClone(view(id, state) ?? {})
      const changed = difference(before, after)
      before = after
      const { at, actor, request } = metadata
      return { object: 'history_item', type, at, actor, request_id: request ?? null, changed }
    })
    if (Object.keys(before).length === 0) refuse('resource_must_exist')
    return { object: 'list', url: path, data, has_more: false, next_cursor: null }
  }
}

function difference(before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>) {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const changed: Record<string, { from: unknown; to: unknown }> = {}
  for (const name of names) {
    const from = before[name] ?? null
    const to = after[name] ?? null
    if (JSON.stringify(from) !== JSON.stringify(to)) changed[name] = { from, to }
  }
  return changed
}
