import { record, Type, Uuid } from '../../contract/vocabulary.ts'
import type { Decider } from '../../kernel/decider.ts'
import { stored, type EventsOf } from '../../kernel/event-types.ts'
import type { MerchantOwner } from '../../kernel/owner.ts'
import { isSettled, nothingTaken, withTaken, type Taken } from '../../kernel/execution/taken-once.ts'

/**
 * The numbers of one merchant's invoices, without gaps. Only an invoice that has been issued asks for one, so
 * none can be lost.
 */
export const invoiceNumberEvents = {
  /** `position` is that of the event that has issued the invoice. */
  InvoiceNumberAssigned: stored(
    1,
    record({
      invoice: Uuid,
      number: Type.Integer({ minimum: 1 }),
      position: Type.Integer({ minimum: 0 }),
      isByPolicy: Type.Boolean(),
    }),
  ),
}

export type InvoiceNumberEvents = EventsOf<typeof invoiceNumberEvents>

export interface InvoiceNumbers {
  readonly last: number
  readonly taken: Taken
}

export type InvoiceNumberCommands = { AssignNumber: { invoice: string; position: number } }

export const invoiceNumbers: Decider<InvoiceNumbers, InvoiceNumberCommands, InvoiceNumberEvents> = {
  category: 'invoice_numbers',
  events: invoiceNumberEvents,
  initial: () => ({ last: 0, taken: nothingTaken }),
  snapshot: { version: 1, every: () => 256 },

  decide: {
    AssignNumber({ invoice, position }, { last, taken }, { cause }) {
      const isByPolicy = cause !== undefined
      if (isSettled(taken, { id: invoice, position }, isByPolicy)) return []
      return [{ type: 'InvoiceNumberAssigned', data: { invoice, number: last + 1, position, isByPolicy } }]
    },
  },

  evolve: {
    InvoiceNumberAssigned: ({ taken }, { invoice, number, position, isByPolicy }) => {
      return { last: number, taken: withTaken(taken, { id: invoice, position }, isByPolicy) }
    },
  },
}

/** Each merchant has one sequence in each environment. */
export function invoiceNumbersId({ merchant, livemode }: MerchantOwner): string {
  return `${merchant}.${livemode ? 'live' : 'test'}`
}
