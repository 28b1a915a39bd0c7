import type { Caller } from '../../../packages/contract/access/callers.ts'
import { publicId } from '../../../packages/contract/identity.ts'
import { refuse } from '../../../packages/contract/refusals.ts'
import type { AnyRoute, Request } from '../../../packages/contract/routes.ts'
import {
  literals,
  nullable,
  record,
  Timestamp,
  Type,
  type Static,
} from '../../../packages/contract/vocabulary.ts'
import { idPrefixes } from '../../../packages/domain/index.ts'
import { streamName } from '../../../packages/kernel/decider.ts'
import { createdId, keyedId, startedStream } from '../kinds/idempotency.ts'

export const IdempotencyKeyResource = record({
  object: literals('idempotency_key'),
  key: Type.String(),
  livemode: Type.Boolean(),
  uses: Type.Array(
    record({
      operation: Type.String({ description: 'The operation that was asked for with this key' }),
      status: literals('running', 'done'),
      http_status: nullable(Type.Integer()),
      resource_id: nullable(Type.String()),
      started_at: Timestamp,
    }),
  ),
})

type Use = Static<typeof IdempotencyKeyResource>['uses'][number]

/** What became of a key, in each operation that it was used for. */
export function showIdempotencyKey(table: readonly AnyRoute[]) {
  const starting = table.flatMap((route) => {
    // Twin operations share their keys: what one started is found under the other.
    const stream = route.twinOf === undefined ? startedStream(route) : undefined
    return stream ? [{ route, status: route.status ?? 201, ...stream }] : []
  })
  const scopes = new Map<string, string>(table.map(({ operation, scope }) => [operation, scope]))
  return async ({
    caller,
    params,
    dependencies,
  }: Request): Promise<Static<typeof IdempotencyKeyResource>> => {
    const key = params['key']!
    const { merchant, livemode } = caller
    const kept = await dependencies.answers.lookup(merchant, livemode, key)
    const answered = kept.map(({ operation: scoped, status, httpStatus, body, startedAt }): Use => {
      const operation = withoutScope(scoped)
      const resource = (body as { id?: string } | null)?.id ?? null
      return { operation, status, http_status: httpStatus, resource_id: resource, started_at: startedAt }
    })
    const started = starting.map(async ({ route, status, decider }): Promise<Use[]> => {
      const { operation } = route
      const id = await createdId(route, dependencies, keyedId(caller, operation, key))
      const [first] = await dependencies.store.readStream(streamName(decider.category, id), 0, 1)
      if (first?.metadata.idempotencyKey !== key) return []
      const prefix = idPrefixes[decider.category]
      const resource_id = prefix === undefined ? id : publicId(prefix, id)
      return [{ operation, status: 'done', http_status: status, resource_id, started_at: first.metadata.at }]
    })
    const all = [...answered, ...(await Promise.all(started)).flat()]
    const uses = all.filter(({ operation }) => mayRead(caller, scopes.get(operation)))
    if (uses.length === 0) refuse('resource_must_exist')
    return { object: 'idempotency_key', key, livemode, uses }
  }
}

/** Where keys are scoped by who sends them, that stands behind the operation. */
function withoutScope(operation: string): string {
  return operation.split(' ', 2).join(' ')
}

/** A caller that may perform the operation, or read what it made. */
function mayRead(caller: Caller, scope = ''): boolean {
  const own = 'scopes' in caller ? caller.scopes : []
  return ['*', scope, scope.replace(/write$/, 'read')].some((one) => own.includes(one))
}
