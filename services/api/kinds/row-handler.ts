import { refuse } from '../../../packages/contract/refusals.ts'
import type { AnyRoute } from '../../../packages/contract/routes.ts'
import type { RowStream } from '../../../packages/contract/row.ts'
import { streamName } from '../../../packages/kernel/decider.ts'
import { recordedEvent } from '../../../packages/kernel/history.ts'
import { ownedBy } from '../../../packages/kernel/owner.ts'
import type { Projection, Row } from '../../../packages/kernel/projection.ts'
import { equal } from '../../../packages/kernel/ports/reads.ts'
import type { AnyRequest } from '../http/request.ts'

const waitMs = 1_000

/** One row of a read model across streams. */
export async function projectionRow(
  { scope, actsFor, view, streamOf }: AnyRoute,
  { owner, dependencies, subject }: AnyRequest,
  from: Projection,
): Promise<unknown> {
  const isAnybodys = scope === 'public' && !actsFor
  const where = isAnybodys ? {} : ownedBy(owner)
  const row = await currentRow(dependencies, { from, id: subject!, where, streamOf: streamOf! })
  return row ? view!(...([row] as never)) : refuse('resource_must_exist')
}

interface RowSought {
  readonly from: Projection
  readonly id: string
  readonly where?: Readonly<Record<string, string | number | boolean>>
  readonly streamOf: RowStream
}

/**
 * The row as its stream says it is now: the read model is asked only for whose stream that is. Whoever was
 * told an id a moment ago waits for the read model to know it.
 */
export async function currentRow(
  dependencies: Pick<AnyRequest['dependencies'], 'reads' | 'store'>,
  { from, id, where = {}, streamOf }: RowSought,
): Promise<Row | undefined> {
  const { reads, store } = dependencies
  const query = { from: from.name, where: equal({ id, ...where }), order: 'id', limit: 1 }
  const known = async () => (await reads.page<Row>(query)).rows[0]
  let row = await known()
  if (!row) {
    await reads.reached(await store.head(), waitMs, from.name)
    row = await known()
  }
  if (!row) return undefined
  const { decider, id: subject } = streamOf(row)
  for (const event of await store.readStream(streamName(decider.category, subject), 0)) {
    const changes = from.on[event.type]?.(recordedEvent(decider, event) as never) ?? []
    for (const change of changes) {
      if ('put' in change && change.put['id'] === id) row = change.put
      if ('patch' in change && change.key['id'] === id) row = { ...row, ...change.patch }
    }
  }
  return row
}
