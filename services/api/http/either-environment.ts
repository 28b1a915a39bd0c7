import type { Caller } from '../../../packages/contract/access/callers.ts'
import type { AnyRoute, Dependencies } from '../../../packages/contract/routes.ts'
import { streamName } from '../../../packages/kernel/decider.ts'
import { owns, type MerchantOwner, type Owner } from '../../../packages/kernel/owner.ts'
import { subjectOf } from '../kinds/prefixes.ts'

interface Asked {
  readonly caller: Caller
  readonly params: Readonly<Record<string, string>>
  readonly dependencies: Pick<Dependencies, 'store'>
}

/**
 * Whose stream a row is about that is for both environments: that of what the path names, if it is the
 * merchant's at all. What belongs to the whole merchant carries livemode false.
 */
export async function ownerInEither(
  route: AnyRoute,
  { caller, params, dependencies }: Asked,
): Promise<MerchantOwner> {
  const { merchant } = caller
  const [whole, live] = [false, true].map((livemode) => ({ merchant, livemode }))
  const decider = route.decider ?? (route.from?.kind === 'documents' ? route.from.decider : undefined)
  const id = subjectOf(route, caller, params)
  if (!decider || id === undefined) return whole!
  const [first] = await dependencies.store.readStream(streamName(decider.category, id), 0, 1)
  return first && owns(live!, first.metadata) ? live! : whole!
}

/** The owners whose streams a list of the row shows. */
export function ownersOf({ environment }: AnyRoute, owner: Owner): readonly Owner[] {
  if (environment !== 'either' || !('merchant' in owner)) return [owner]
  return [owner, { ...owner, livemode: !owner.livemode }]
}
