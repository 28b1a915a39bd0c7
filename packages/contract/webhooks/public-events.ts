import type { AnyDecider, Decider, Payloads } from '../../kernel/decider.ts'
import type { RecordedEvent } from '../../kernel/projection.ts'
import { lowerCurrencies } from '../locale/lower-currencies.ts'
import type { Scope } from '../access/scopes.ts'
import type { Static, TSchema } from '../vocabulary.ts'
import type { WebhookType } from './webhook-types.ts'

/**
 * Which events of one kind of stream merchants are told about, and how the resource looks to them at that
 * point.
 */
export interface PublicSource {
  readonly decider: AnyDecider
  /** Object name of the resource: `payout`. */
  readonly resource: string
  /** Callers that may read the resource may read its events. */
  readonly scope: Scope
  /** The meaning of each type. */
  readonly types: Readonly<Record<WebhookType, string>>
  readonly typeOf: (event: RecordedEvent) => WebhookType | undefined
  /** Schema of what `view` returns. */
  readonly data: TSchema
  readonly view: (id: string, state: never, event: RecordedEvent) => unknown
}

type TypeOf<Data extends object, Type> = Type | ((event: RecordedEvent<Data>) => Type | undefined)

interface Told<S, E extends Payloads, Types, Returns extends TSchema> {
  readonly scope: Scope
  readonly types: Types
  /** The public type of each event that has one. */
  readonly events: { readonly [Type in keyof E]?: TypeOf<E[Type], keyof Types & WebhookType> }
  readonly returns: Returns
  readonly view: (id: string, state: S, event: RecordedEvent) => Static<Returns> | undefined
}

/** A resource whose public events each follow from one domain event. */
export function publicEvents<
  S,
  C extends Payloads,
  E extends Payloads,
  const Types extends Readonly<Record<WebhookType, string>>,
  Returns extends TSchema,
>(decider: Decider<S, C, E>, told: Told<S, E, Types, Returns>): PublicSource {
  const types = told.events as Readonly<Record<string, TypeOf<never, WebhookType> | undefined>>
  const { schema, lower } = lowerCurrencies(told.returns)
  return {
    decider,
    resource: decider.category,
    scope: told.scope,
    types: told.types,
    typeOf: (event) => {
      const type = types[event.type]
      return typeof type === 'function' ? type(event as RecordedEvent<never>) : type
    },
    data: schema,
    view: (id, state, event) => lower(told.view(id, state, event)),
  }
}
