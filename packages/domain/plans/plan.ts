import { refuseField } from '../../contract/refusals.ts'
import {
  amountMinorMax,
  CountMinor,
  Currency,
  literals,
  nullable,
  record,
  Type,
} from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'

/** Domain model 5.6. */
export const intervals = ['day', 'week', 'month', 'quarter', 'year'] as const

/** Declared once: events and the resource agree. */
export const planFields = {
  name: nullable(
    Type.String({ maxLength: 256, description: 'As invoices show it', examples: ['Solar kit, monthly'] }),
  ),
  currency: Currency,
  recurring_amount: { ...CountMinor, description: 'Price of one period, in the smallest currency unit' },
  interval: literals(...intervals),
  usage_based_enabled: Type.Boolean({ description: 'Metered use is billed at the end of each period' }),
  metadata: nullable(
    Type.String({
      maxLength: 8000,
      description:
        'Your own data, shown as you sent it. Where it is JSON with `meters`, such as ' +
        '`{"meters":{"sms":25}}`, these are the prices of one unit of each meter',
    }),
  ),
}

const Fields = record(planFields)

// Events. A plan never changes: what a subscription costs was agreed when it began.

export const planEvents = { PlanCreated: stored(1, Fields) }

export type PlanEvents = EventsOf<typeof planEvents>

// State

interface Details extends Readonly<PlanEvents['PlanCreated']> {
  readonly livemode: boolean
  readonly createdAt: string
}

export type Plan = { readonly status: 'none' } | (Details & { readonly status: 'active' })

// Decisions

export type PlanCommands = { CreatePlan: PlanEvents['PlanCreated'] }

export const plan: Decider<Plan, PlanCommands, PlanEvents> = {
  category: 'plan',
  events: planEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    CreatePlan(given, { status }) {
      if (status !== 'none') return []
      admitMeters(given.metadata)
      return [{ type: 'PlanCreated', data: given }]
    },
  },

  evolve: {
    PlanCreated: (_, plan, { livemode, at }) => ({ ...plan, livemode, createdAt: at, status: 'active' }),
  },
}

/** Prices of metered use, by meter. */
export type Meters = Readonly<Record<string, number>>

/** What the metadata of a plan says about meters; nothing where it is no such JSON. */
export function metersOf(metadata: string | null): Meters {
  const given = givenMeters(metadata)
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, number] => isPrice(entry[1])),
  )
}

/** A price that cannot be one is refused when the plan is made, not when its first use is billed. */
function admitMeters(metadata: string | null): void {
  for (const [meter, price] of Object.entries(givenMeters(metadata))) {
    if (isPrice(price)) continue
    const message = `the price of the meter "${meter}" must be a whole number from 0, in the smallest unit`
    refuseField('request_must_be_valid', '/metadata', message)
  }
}

function isPrice(price: unknown): boolean {
  return Number.isSafeInteger(price) && Number(price) >= 0 && Number(price) <= amountMinorMax
}

function givenMeters(metadata: string | null): Readonly<Record<string, unknown>> {
  const meters = (parsed(metadata) as { readonly meters?: unknown } | null)?.meters
  const isMap = typeof meters === 'object' && meters !== null && !Array.isArray(meters)
  return isMap ? (meters as Readonly<Record<string, unknown>>) : {}
}

function parsed(text: string | null): unknown {
  try {
    return text === null ? null : (JSON.parse(text) as unknown)
  } catch {
    return null
  }
}
