import type { AnyRoute } from '../../../packages/contract/routes.ts'
import { ownedBy, ownerOf, type Owner } from '../../../packages/kernel/owner.ts'
import { equal, type Where } from '../../../packages/kernel/read-ports.ts'

/** What a list shows at all: what is the caller's and of the row's own kind. */
export function owned(caller: Owner, route: AnyRoute): Where[] {
  const shown = route.from!.kind === 'documents' && { shown: true }
  return equal({ ...ownedBy(caller), ...shown })
}

/** Live is not held up by what somebody tries out in sandbox. */
export function shareOf(owner: Owner): string {
  return JSON.stringify(ownerOf(owner))
}
