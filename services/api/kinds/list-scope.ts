import type { AnyRoute } from '../../../packages/contract/routes.ts'
import { ownedBy, ownerOf, type Owner } from '../../../packages/kernel/owner.ts'
import { equal, type Where } from '../../../packages/kernel/read-ports.ts'

/** What a list can show at all: the owner's objects of the row's kind. */
export function owned(owner: Owner, route: AnyRoute): Where[] {
  const shown = route.from!.kind === 'documents' && { shown: true }
  const { livemode, ...whole } = ownedBy(owner)
  return equal({ ...(route.environment === 'either' ? whole : ownedBy(owner)), ...shown })
}

/** Sandbox load must not slow down live. */
export function shareOf(owner: Owner): string {
  return JSON.stringify(ownerOf(owner))
}
