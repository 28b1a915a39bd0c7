import type { AnyDecider } from '../kernel/decider.ts'
import type { AnyPolicy } from '../kernel/policy.ts'
import type { TimerHandlers } from '../kernel/timer.ts'
import type { HoldOwner } from './hold-owners.ts'
import type { PublicSource } from './webhooks/public-events.ts'
import type { RefusalName } from './refusals.ts'
import type { Scope } from './access/scopes.ts'

/**
 * Everything a family contributes, in the order in which it happens. Ids, scopes, webhook types, the timers
 * read model, documentation and tests follow from the list in `packages/domain/index.ts`.
 */
export interface Family {
  /** The name of its folder. */
  readonly name: string
  /** Prefixes of its public ids by object name: `{ payout: 'po' }`. Without one, an id is a bare UUID. */
  readonly ids?: Readonly<Record<string, string>>
  /** How one that is missing is refused, by object name; usually as `resource_must_exist`. */
  readonly missing?: Readonly<Record<string, RefusalName>>
  readonly scopes?: readonly Scope[]
  /** Its kinds of streams. */
  readonly streams: readonly AnyDecider[]
  /** What follows in other streams from its events. */
  readonly policies?: readonly AnyPolicy[]
  /** Timers that its events start and stop. */
  readonly timers?: TimerHandlers
  /** Streams that money is held for, and how they say whether they claim it. */
  readonly holdOwners?: readonly HoldOwner[]
  /** The webhooks merchants get. */
  readonly publicEvents?: readonly PublicSource[]
}
