import { refuse } from '../../contract/refusals.ts'
import { CountMinor, Currency, nullable, record, Type, type Static } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { sealedFor, stored, type EventsOf } from '../../kernel/event-types.ts'
import { personal } from '../../kernel/personal.ts'

/** From this amount on, in minor units, an intervention takes two names. */
const twoNamesFrom: Readonly<Record<string, number>> = {
  XOF: 500_000,
  XAF: 500_000,
  GNF: 7_500_000,
  CDF: 225_000_000,
  EUR: 75_000,
  USD: 85_000,
}

const Signed = record({
  /** As the command line spells it: `payouts settle`. */
  action: Type.String(),
  /** The public id of what it is applied to. */
  subject: Type.String(),
  money: nullable(record({ amount: CountMinor, currency: Currency })),
  by: Type.String(),
  reason: personal(Type.String()),
})

// Events

export const interventionEvents = {
  /** Large enough to need a second name. */
  InterventionProposed: sealedFor(aboutItself, stored(1, Signed)),
  /** From here on it may be carried out. */
  InterventionApproved: sealedFor(aboutItself, stored(1, Signed)),
}

function aboutItself(_: unknown, id: string): string {
  return `intervention/${id}`
}

export type InterventionEvents = EventsOf<typeof interventionEvents>

// State

export type Intervention =
  { readonly status: 'none' | 'approved' } | { readonly status: 'proposed'; readonly by: string }

// Decisions

export type InterventionCommands = { SignIntervention: Static<typeof Signed> }

export const intervention: Decider<Intervention, InterventionCommands, InterventionEvents> = {
  category: 'intervention',
  events: interventionEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    SignIntervention(signed, state) {
      if (!takesTwoNames(signed)) return [{ type: 'InterventionApproved', data: signed }]
      if (state.status !== 'proposed') return [{ type: 'InterventionProposed', data: signed }]
      if (state.by === signed.by) {
        refuse('intervention_must_have_two_names', {
          detail: `${signed.by} has proposed it: another name approves`,
        })
      }
      return [{ type: 'InterventionApproved', data: signed }]
    },
  },

  evolve: {
    InterventionProposed: (_, { by }) => ({ status: 'proposed', by }),
    InterventionApproved: () => ({ status: 'approved' }),
  },
}

/** In a currency missing from the table, any amount takes two names. */
function takesTwoNames({ money }: Static<typeof Signed>): boolean {
  return money !== null && money.amount >= (twoNamesFrom[money.currency] ?? 0)
}
