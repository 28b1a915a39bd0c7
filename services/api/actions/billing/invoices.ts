import { setTimeout as pause } from 'node:timers/promises'
import { identity } from '../../../../packages/contract/identity.ts'
import { refuse, refuseField } from '../../../../packages/contract/refusals.ts'
import type { Request } from '../../../../packages/contract/routes.ts'
import { timeZoneOf } from '../../../../packages/contract/locale/time-zones.ts'
import type { Static } from '../../../../packages/contract/vocabulary.ts'
import { latestDueDate, today } from '../../../../packages/domain/invoices/due.ts'
import { invoice, type InvoiceCommands } from '../../../../packages/domain/invoices/invoice.ts'
import { invoiceNumbers, invoiceNumbersId } from '../../../../packages/domain/invoices/numbers.ts'
import type { InvoiceRequest, MerchantInvoiceRequest } from '../../../../packages/domain/invoices/resource.ts'
import type { ExistingInvoice, Invoice } from '../../../../packages/domain/invoices/state.ts'
import { shownPeriod, type Subscription } from '../../../../packages/domain/subscriptions/state.ts'
import { streamName } from '../../../../packages/kernel/decider.ts'
import type { Outcome } from '../../../../packages/kernel/execution/options.ts'
import { invoices } from '../../../../projections/invoices.ts'
import { subscriptions } from '../../../../projections/subscriptions.ts'
import { currentState } from '../../kinds/current-state.ts'
import { refuseUnknown } from '../../kinds/prefixes.ts'
import { activeMerchant } from '../hosted/checkout-terms.ts'
import { findOrCreateCustomer } from './customers.ts'
import { customerOf } from './subscriptions.ts'

type Given = InvoiceCommands['CreateInvoice']
type RequestPart = Pick<Request, 'owner' | 'caller' | 'dependencies' | 'id'>

/** Always current. */
export async function invoiceOf(
  request: Pick<Request, 'owner' | 'dependencies'>,
  id: string,
): Promise<ExistingInvoice> {
  const state = (await currentState(request, invoices, id)) as Invoice | undefined
  return !state || state.status === 'none' ? refuse('resource_must_exist') : state
}

export async function prepareInvoice(request: Request<Static<typeof InvoiceRequest>>): Promise<Given> {
  const { subscriptionId, customerId, currency, amountDue, periodStart, periodEnd, dueDate } = request.body
  const about = subscriptionId ? await subscriptionOf(request, subscriptionId) : undefined
  const payer = customerId ? await customerOf(request, customerId, '/customerId') : undefined
  const other = (field: string, message: string) => refuseField('billing_terms_must_fit', field, message)
  if (about && payer && payer.id !== about.customer)
    other('/customerId', 'this is not the customer who subscribes')
  if (about && currency && currency !== about.currency)
    other('/currency', `the subscription is paid in ${about.currency}`)
  const customer =
    about?.customer ?? payer?.id ?? other('/customerId', 'customerId or subscriptionId is required')
  const amount =
    amountDue ?? about?.price ?? other('/amountDue', 'amountDue is required without a subscription')
  const [start, end] = [periodStart ?? about?.start, periodEnd ?? about?.end]
  if (start && !end) other('/periodEnd', 'periodEnd is required with periodStart')
  if (end && !start) other('/periodStart', 'periodStart is required with periodEnd')
  if (start && end && end <= start) other('/periodEnd', 'the period must end after its start')
  const timeZone = await zoneOf(request)
  return {
    ...(await addressOf(request)),
    customer,
    customerName: null,
    subscription: about?.id ?? null,
    period: start && end ? { start, end } : null,
    currency:
      currency ?? about?.currency ?? other('/currency', 'currency is required without a subscription'),
    description: null,
    lines: [{ description: about?.name ?? null, quantity: 1, amount }],
    metadata: {},
    timeZone,
    dueDate: dueDate
      ? dueOn(request, { day: today(timeZone, new Date(dueDate)), timeZone, pointer: '/dueDate' })
      : null,
    isDraft: false,
  }
}

/** A customer who is not known yet is met by the invoice. */
export async function prepareMerchantInvoice(
  request: Request<Static<typeof MerchantInvoiceRequest>>,
): Promise<Given> {
  const {
    customer,
    customer_email,
    customer_name,
    amount,
    currency,
    due_date,
    description,
    metadata,
    status,
  } = request.body
  const timeZone = await zoneOf(request)
  const dueDate = due_date ? dueOn(request, { day: due_date, timeZone, pointer: '/due_date' }) : null
  const contact = { email: customer_email ?? null, phone: null, currency }
  return {
    ...(await addressOf(request)),
    customer: customer
      ? (await customerOf(request, customer, '/customer')).id
      : await findOrCreateCustomer(request, contact),
    customerName: customer_name ?? null,
    subscription: null,
    period: null,
    currency,
    description: description ?? null,
    lines: [{ description: null, quantity: 1, amount }],
    metadata: { ...metadata },
    timeZone,
    dueDate,
    isDraft: status === 'draft',
  }
}

/** What an invoice is about where the request leaves it out. */
async function subscriptionOf(request: RequestPart, text: string) {
  const id = identity(text, 'sub')
  const state = id && ((await currentState(request, subscriptions, id)) as Subscription | undefined)
  if (!id || !state || state.status === 'none') return refuseUnknown('/subscriptionId', 'subscription', text)
  const { customer, currency, items } = state
  const { start, end } = shownPeriod(state)
  const price = items.reduce((sum, { quantity, unitAmount }) => sum + quantity * unitAmount, 0)
  const name = items.length === 1 ? items[0]!.name : null
  return { id, customer, currency, name, price, start, end }
}

async function addressOf({ dependencies, id }: RequestPart): Promise<Pick<Given, 'pages' | 'secret'>> {
  const secret = await dependencies.blindIndex(JSON.stringify(['invoice', id]))
  return { pages: `${dependencies.baseUrl}/invoice`, secret }
}

async function zoneOf({ caller, dependencies }: RequestPart): Promise<string> {
  return timeZoneOf((await activeMerchant(dependencies, caller.merchant)).country)
}

interface DueOn {
  readonly day: string
  readonly timeZone: string
  readonly pointer: string
}

/** Inferred: nothing is overdue from the beginning. */
function dueOn({ owner, dependencies }: RequestPart, { day, timeZone, pointer }: DueOn): string {
  const first = today(timeZone, dependencies.clock(owner))
  if (day < first) refuseField('request_must_be_valid', pointer, `must not be before today, ${first}`)
  const last = latestDueDate(first)
  if (day > last) refuseField('request_must_be_valid', pointer, `must be within ten years, until ${last}`)
  return day
}

/**
 * A policy would number it a moment later. Where it has taken the number already, it is about to tell the
 * invoice.
 */
export async function numberInvoice(request: Sending, { id }: Outcome<Invoice>): Promise<void> {
  const events = await request.dependencies.store.readStream(streamName(invoice.category, id), 0)
  const issued = events.find(({ type }) => type === 'InvoiceIssued')
  if (!issued || events.some(({ type }) => type === 'InvoiceNumbered')) return
  const assign = { type: 'AssignNumber', data: { invoice: id, position: issued.position } } as const
  const { state, appended } = await request.send(invoiceNumbers, invoiceNumbersId(request.caller), assign)
  if (appended > 0) await request.send(invoice, id, { type: 'NumberInvoice', data: { number: state.last } })
}

type Sending = Pick<Request, 'caller' | 'dependencies' | 'send'>

const looksForNumber = 50
const looksEveryMs = 20

/** Once an invoice has a number, it has it for ever: so it is shown also where the rest is as it was. */
export async function numberOf(
  request: Pick<Request, 'owner' | 'dependencies'>,
  id: string,
  state: Invoice,
): Promise<number | null> {
  if (state.status === 'none' || state.status === 'draft') return null
  // It may have been voided before it had one, and gets none any more.
  if (state.status === 'void') return (await invoiceOf(request, id)).number
  for (let look = 1; look < looksForNumber; look++) {
    const { number } = await invoiceOf(request, id)
    if (number !== null) return number
    await pause(looksEveryMs)
  }
  return null
}
