import t from 'tap'
import { Refusal, type RefusalName } from '../../packages/contract/refusals.ts'
import {
  decide,
  evolve,
  type Context,
  type Decider,
  type Message,
  type Payloads,
  type Stamp,
} from '../../packages/kernel/decider.ts'
import { ownerOf, type MerchantOwner, type Owner } from '../../packages/kernel/owner.ts'

/** An event that has happened: at the context's time, unless it says when. */
export type Past<Events extends Payloads> = Message<Events> & { readonly at?: string }

export interface Scenario<
  Commands extends Payloads,
  Events extends Payloads,
  O extends Owner = MerchantOwner,
> {
  readonly given?: readonly Past<Events>[]
  readonly when: Message<Commands>
  readonly then: readonly Message<Events>[] | RefusalName
  /** What repeating the command decides. Nothing, unless the scenario says otherwise. */
  readonly again?: readonly Message<Events>[] | RefusalName
  /** What is special about this case: another time or environment, the policy that sends the command. */
  readonly context?: Partial<Context<O>>
}

export const context: Context = {
  id: '0190a1b2-0000-7000-8000-000000000001',
  merchant: '0190a1b2-0000-7000-8000-00000000000a',
  livemode: false,
  now: new Date('2026-01-01T12:00:00.000Z'),
}

/** The metadata of an event that happens now. */
export function stampOf<O extends Owner = MerchantOwner>(context: Context<O>): Stamp<O> {
  return { ...(ownerOf(context) as O), at: context.now.toISOString() }
}

/** The state after these events. */
export function fold<S, C extends Payloads, E extends Payloads, O extends Owner = MerchantOwner>(
  decider: Decider<S, C, E, O>,
  history: readonly Past<E>[],
  by: Context<O> = context as never,
): S {
  const stamp = stampOf(by)
  const step = (state: S, event: Past<E>) => evolve(decider, state, frozen(event), { ...stamp, ...at(event) })
  return history.reduce(step, decider.initial())
}

/** A decider may modify its state in place, but never an event, which consumers are still to see. */
export function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) frozen(member)
  return Object.freeze(value)
}

function at({ at }: { readonly at?: string }): Partial<Stamp> {
  return at === undefined ? {} : { at }
}

/**
 * Each key is a sentence of the specification, each value proves it. `own` is the context of all of them: the
 * owner of streams that are not a merchant's.
 */
export function scenarios<S, C extends Payloads, E extends Payloads, O extends Owner = MerchantOwner>(
  decider: Decider<S, C, E, O>,
  table: Record<string, Scenario<C, E, O>>,
  own: Partial<Context<O>> = {},
): void {
  for (const [sentence, { given = [], when, then, again = [], context: special }] of Object.entries(table)) {
    t.test(sentence, async (t) => {
      const { merchant, livemode, ...neutral } = context
      const whose = decider.owners ? {} : { merchant, livemode }
      const now = { ...whose, ...neutral, ...own, ...special } as unknown as Context<O>
      const at = now.now.toISOString()
      const answer = (history: readonly Past<E>[]) => {
        // Folded anew each time: a decider may modify its state in place.
        const state = fold(decider, history, { ...now, now: context.now })
        return decided(decider, when, { state, context: now })
      }
      t.strictSame(answer(given), then)
      if (typeof then === 'string') return
      t.strictSame(answer([...given, ...then.map((event) => ({ at, ...event }))]), again, 'sent again')
    })
  }
}

/** What a command decides, or the name of the rule that refuses it. */
function decided<S, C extends Payloads, E extends Payloads, O extends Owner>(
  decider: Decider<S, C, E, O>,
  command: Message<C>,
  { state, context }: { readonly state: S; readonly context: Context<O> },
): readonly Message<E>[] | RefusalName {
  try {
    return decide(decider, command, state, context)
  } catch (error) {
    if (error instanceof Refusal) return error.reason
    throw error
  }
}
