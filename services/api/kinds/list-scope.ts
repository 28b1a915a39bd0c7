import type { Caller } from '../../../packages/contract/access/callers.ts'
import type { AnyRoute } from '../../../packages/contract/routes.ts'
import { ownedBy, type Owner } from '../../../packages/kernel/owner.ts'
import { equal, type Where } from '../../../packages/kernel/ports/reads.ts'

interface Viewer {
  readonly owner: Owner
  readonly caller: Caller
}

/** What a list can show at all: the owner's objects of the row's kind, or the caller's part of them. */
export function owned({ owner, caller }: Viewer, route: AnyRoute): Where[] {
  const shown = route.from!.kind === 'documents' && { shown: true }
  const { livemode, ...whole } = ownedBy(owner)
  const all = equal({ ...(route.environment === 'either' ? whole : ownedBy(owner)), ...shown })
  const narrowed = Object.entries(route.only?.(caller) ?? {})
  return [...all, ...narrowed.map(([column, value]) => holding(column, value))]
}

function holding(column: string, value: string | readonly string[]): Where {
  return { column, operator: typeof value === 'string' ? '=' : 'in', value }
}

/** The name of what is listed: each customer's part is a list of its own. */
export function listName({ operation, only }: AnyRoute, caller: Caller): string {
  return only ? JSON.stringify([operation, only(caller)]) : operation
}
