import { isGranted, type Caller } from '../../../packages/contract/callers.ts'
import { refuse } from '../../../packages/contract/refusals.ts'
import { matches } from '../../../packages/contract/webhook-types.ts'
import { readScopes } from '../../../packages/domain/index.ts'

/** An event shows its resource, so it requires that resource's read scope. */
export function maySee(caller: Caller, type: string): boolean {
  return isGranted(caller, readScopes.get(type) ?? '*')
}

/** Refuses a selection of event types unless the caller may see all of them. */
export function requireSight(caller: Caller, enabledEvents: readonly string[]): void {
  const hidden = [...readScopes.keys()].find((type) => matches(enabledEvents, type) && !maySee(caller, type))
  if (hidden === undefined) return
  const detail = `Credential lacks the scope ${readScopes.get(hidden)} for ${hidden}`
  refuse('credential_must_have_the_scope', { detail })
}
