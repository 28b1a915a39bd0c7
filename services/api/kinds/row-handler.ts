import { refuse } from '../../../packages/contract/refusals.ts'
import type { AnyRoute } from '../../../packages/contract/routes.ts'
import { ownedBy } from '../../../packages/kernel/owner.ts'
import type { Projection } from '../../../packages/kernel/projection.ts'
import { equal } from '../../../packages/kernel/read-ports.ts'
import type { AnyRequest } from '../http/request.ts'

const waitMs = 1_000

/** One row of a read model across streams. Whoever was told its id a moment ago waits for the read model. */
export async function projectionRow(
  { scope, actsFor, view }: AnyRoute,
  { owner, dependencies, subject }: AnyRequest,
  { name }: Projection,
): Promise<unknown> {
  const { reads, store } = dependencies
  await reads.reached(await store.head(), waitMs, name)
  const isAnybodys = scope === 'public' && !actsFor
  const where = equal({ id: subject!, ...(!isAnybodys && ownedBy(owner)) })
  const { rows } = await reads.page<object>({ from: name, where, order: 'id', limit: 1 })
  return rows[0] ? view!(...([rows[0]] as never)) : refuse('resource_must_exist')
}
