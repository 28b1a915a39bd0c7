import { marketOf } from '../../contract/payments/catalog.ts'
import { admitPayout } from '../../contract/payments/eligibility.ts'
import { begun } from '../../contract/existing.ts'
import { derivedId } from '../../contract/identity.ts'
import { refuse } from '../../contract/refusals.ts'
import { Currency, nullable, record, Timestamp, Type } from '../../contract/vocabulary.ts'
import type { Decider, Stamp } from '../../kernel/decider.ts'
import { sealedFor, stored, withoutStamp, type EventsOf } from '../../kernel/event-types.ts'
import { owns, type MerchantOwner } from '../../kernel/owner.ts'
import { personal } from '../../kernel/personal.ts'
import { holderOf, isErased } from '../../contract/payments/holders.ts'
import {
  Destination,
  readDestination,
  refuseDestination,
  type DestinationRequest,
} from './destination-request.ts'

// Events

export const payoutDestinationEvents = {
  PayoutDestinationSaved: sealedFor(
    ({ destination }) => holderOf(destination),
    stored(
      2,
      record({
        destination: Destination,
        currency: nullable(Currency),
        label: personal(nullable(Type.String())),
        /** It was requested as the default; the settings know whether it still is. */
        isDefault: Type.Boolean(),
        usableFrom: Timestamp,
      }),
      { 1: withoutStamp },
    ),
  ),
  PayoutDestinationRemoved: stored(2, record({}), { 1: withoutStamp }),
}

export type PayoutDestinationEvents = EventsOf<typeof payoutDestinationEvents>

// State

type Details = Readonly<PayoutDestinationEvents['PayoutDestinationSaved']> & Stamp

export type PayoutDestination = { readonly status: 'none' } | SavedDestination
export type SavedDestination = Details & { readonly status: 'active' | 'removed' }

// Decisions

/** `currency` is null for a bank account that accepts every currency. */
export interface Savable {
  readonly destination: Destination
  readonly currency: string | null
}

export type PayoutDestinationCommands = {
  SaveDestination: Savable & { label: string | null; isDefault: boolean }
  RemoveDestination: object
}

/** Inferred: in live, money can go to a new destination a day after it was saved. */
const safetyDelayMs = 24 * 3_600_000

export const payoutDestination: Decider<
  PayoutDestination,
  PayoutDestinationCommands,
  PayoutDestinationEvents
> = {
  category: 'payout_destination',
  events: payoutDestinationEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    // The stream's id is derived from the destination: an active one found there was saved before.
    SaveDestination(request, { status }, { livemode, now }) {
      if (status === 'active') refuse('resource_must_not_exist_yet', { detail: 'It is already saved' })
      admitSaved(request)
      const usableFrom = new Date(now.getTime() + (livemode ? safetyDelayMs : 0)).toISOString()
      const data = { ...request, usableFrom }
      return [{ type: 'PayoutDestinationSaved', data }]
    },

    RemoveDestination(_, { status }) {
      if (status !== 'active') refuse('resource_must_exist')
      return [{ type: 'PayoutDestinationRemoved', data: {} }]
    },
  },

  evolve: {
    PayoutDestinationSaved: (_, details, { merchant, livemode, at }) => {
      return { ...details, merchant, livemode, at, status: 'active' }
    },
    PayoutDestinationRemoved: (state) => ({ ...begun(state), status: 'removed' }),
  },
}

const destinationIds = 'b5f0f3a6-61b7-5d56-9a3c-2f4f0f1e8c77'

/** The same destination of a merchant is the same stream, so it cannot be saved twice while it is active. */
export function destinationId({ merchant, livemode }: MerchantOwner, destination: Destination): string {
  const parts =
    destination.type === 'bank'
      ? [destination.bankCode, destination.accountNumber]
      : [destination.country, destination.operator, destination.msisdn]
  return derivedId(destinationIds, JSON.stringify([merchant, livemode, destination.type, ...parts]))
}

interface SaveRequest extends DestinationRequest {
  readonly label?: string | null
  readonly is_default?: boolean | null
}

/** What a request to save a destination asks for. Mobile money is in its country's currency. */
export function savedDestination(request: SaveRequest): PayoutDestinationCommands['SaveDestination'] {
  const asked = readDestination(request, '')
  const home = asked.type === 'mobile_money' ? (marketOf(asked.country)?.currency ?? '') : null
  const currency = request.currency ?? home
  const destination = admitSaved({ destination: asked, currency })
  return { destination, currency, label: request.label ?? null, isDefault: request.is_default ?? false }
}

/** A destination that payouts can go to, with the operator's canonical name; refused otherwise. */
export function admitSaved({ destination, currency }: Savable): Destination {
  return currency === null ? destination : admitPayout({ currency }, destination, '')
}

/**
 * Spec, Payouts: a saved destination must belong to the merchant, be active, and not be in its safety delay.
 */
export function usableDestination(
  state: PayoutDestination,
  { now, ...caller }: MerchantOwner & { readonly now: Date },
): SavedDestination {
  if (state.status === 'none' || !owns(state, caller)) {
    return refuseDestination('/payout_method_id', 'payout_method_id names no saved destination')
  }
  if (state.status === 'removed') refuse('destination_must_be_active')
  if (isErased(state.destination)) refuse('destination_must_be_active', { detail: 'It was erased' })
  if (now.getTime() < Date.parse(state.usableFrom)) {
    const detail = `The saved destination can be used from ${state.usableFrom}`
    refuse('destination_must_be_past_its_safety_delay', { detail })
  }
  return state
}
