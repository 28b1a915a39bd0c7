import { isGranted, type Caller } from '../../../../packages/contract/access/callers.ts'
import { readScopes } from '../../../../packages/domain/index.ts'
import {
  requireVisible,
  type HiddenEvents,
} from '../../../../packages/domain/webhook-endpoints/webhook-endpoint.ts'

/** An event shows its resource, so it requires that resource's read scope. */
export function maySee(caller: Caller, type: string): boolean {
  return isGranted(caller, readScopes.get(type) ?? '*')
}

export function hiddenFrom(caller: Caller): HiddenEvents {
  return Object.fromEntries([...readScopes].filter(([type]) => !maySee(caller, type)))
}

/** Refuses a selection of event types unless the caller may see all of them. */
export function requireSight(caller: Caller, enabledEvents: readonly string[]): void {
  requireVisible(enabledEvents, hiddenFrom(caller))
}
