import type { RailMethod } from '../../kernel/ports/rails.ts'
import {
  bankCurrencies,
  cardCurrencies,
  cashlessLimitsOf,
  marketOf,
  markets,
  msisdnFits,
  operatorIn,
  paymentCurrencies,
  type Direction,
  type Limits,
  type Market,
  type Operator,
} from './catalog.ts'
import { spelledAmount } from '../locale/money-text.ts'
import { refuseField, type RefusalName } from '../refusals.ts'

type MobileMoney = Extract<RailMethod, { type: 'mobile_money' }>
type Destination = Exclude<RailMethod, { type: 'card' }>

/** Where the request's fields are in its body: JSON pointers. */
interface TermsPointers {
  readonly country: string
  readonly currency: string
  readonly amount: string
}

const intentPointers: TermsPointers = {
  country: '/transaction_country',
  currency: '/currency',
  amount: '/amount',
}

/** Refuses what no method could pay in that country, whatever the payer chooses later. */
export function admitPayment(terms: PaymentTerms, pointers = intentPointers): void {
  const { country, currency } = terms
  const market = marketIn(country, 'payment_must_be_eligible', pointers.country)
  const allowed = paymentCurrencies(country)
  if (!allowed.includes(currency)) {
    const message = `"${currency}" cannot be paid in ${country}; ${oneOf(allowed)}`
    refuseField('payment_must_be_eligible', pointers.currency, message)
  }
  mustBeCollectable(terms, market, pointers.amount)
}

/** Where only operators collect a currency, the amount must suit at least one of them. */
function mustBeCollectable({ amountMinor, currency }: PaymentTerms, market: Market, pointer: string): void {
  const collectors: Mover[] = market.operators.filter(
    (operator) => operator.directions.includes('pay_in') && operator.currency === currency,
  )
  if (cardCurrencies.includes(currency)) collectors.push(cardIn(currency))
  if (collectors.some((collector) => moves(collector, amountMinor))) return
  const limits = collectors.map(limitsIn).join(', ')
  refuseField('payment_must_be_eligible', pointer, `${limits}; the amount is ${spelledAmount(amountMinor)}`)
}

interface Quoted {
  readonly direction: Direction
  /** Undefined: the operation goes by none. */
  readonly method: RailMethod['type'] | undefined
  readonly currency: string
  readonly country: string | null
  readonly operator: string | null
}

/** Refuses to say what it costs where nobody carries it out, whatever the amount. */
export function admitQuote(quoted: Quoted): void {
  const { method, currency, country, operator } = quoted
  if (method === 'mobile_money') return mustBeMoved(quoted)
  if (operator !== null)
    refuseField('payment_must_be_eligible', '/operator', 'operator is for mobile_money only; leave it out')
  if (country !== null) marketIn(country, 'payment_must_be_eligible', '/country')
  if (method === 'card') mustBeByCard(currency, '/currency')
  if (method === 'bank') mustBeToBanks(currency, 'payment_must_be_eligible')
}

/** Whoever does not name a country, or an operator, asks whether any of them moves it. */
function mustBeMoved({ direction, currency, country, operator: name }: Quoted): void {
  const reason = 'payment_must_be_eligible'
  const asked = country === null ? markets : [marketIn(country, reason, '/country')]
  const where = country ?? 'any country'
  const known = asked.flatMap((market) => {
    const operators = name === null ? market.operators : [operatorIn(market.country, name)]
    return operators.filter((operator) => operator !== undefined)
  })
  if (known.length === 0) refuseField(reason, '/operator', `"${name}" is not an operator in ${where}`)
  const able = known.filter(({ directions }) => directions.includes(direction))
  if (able.length === 0)
    refuseField(reason, '/operator', `"${name}" does not ${verbs[direction]} in ${where}`)
  const moved = [...new Set(able.map((operator) => operator.currency))]
  if (moved.includes(currency)) return
  const who = name === null ? 'no operator moves' : `"${name}" does not move`
  refuseField(reason, '/currency', `${who} ${currency} in ${where}; ${oneOf(moved)}`)
}

export interface PaymentTerms {
  /** The intent's transaction_country. */
  readonly country: string
  readonly currency: string
  readonly amountMinor: number
}

/** Checks how an intent is to be paid, and returns the method with the operator's canonical name. */
export function admitPaymentMethod(
  terms: PaymentTerms,
  method: RailMethod,
  pointer = '/payment_method',
): RailMethod {
  if (method.type === 'mobile_money') return admitPayer(terms, method, `${pointer}/mobile_money`)
  if (method.type === 'bank') {
    const message = '"bank" does not take payments; one of mobile_money, card'
    refuseField('payment_must_be_eligible', `${pointer}/type`, message)
  }
  mustBeByCard(terms.currency, `${pointer}/type`)
  return admitCard(terms, method)
}

function mustBeByCard(currency: string, pointer: string): void {
  if (cardCurrencies.includes(currency)) return
  refuseField('payment_must_be_eligible', pointer, `cards do not pay ${currency}; ${oneOf(cardCurrencies)}`)
}

function admitCard({ amountMinor, currency }: PaymentTerms, method: RailMethod): RailMethod {
  mustBeWithin(amountMinor, cardIn(currency), ['payment_must_be_eligible', '/amount'])
  return method
}

function cardIn(currency: string): Mover {
  return { code: 'a card', currency, ...cashlessLimitsOf(currency) }
}

function admitPayer(terms: PaymentTerms, method: MobileMoney, pointer: string): MobileMoney {
  if (method.country !== terms.country) {
    const message = `"${method.country}" is not the transaction_country of the intent, ${terms.country}`
    refuseField('method_country_must_be_the_transactions', `${pointer}/country`, message)
  }
  const market = marketIn(method.country, 'payment_must_be_eligible', `${pointer}/country`)
  const operator = operatorOf(market, method.operator, 'payment_method_must_be_valid', `${pointer}/operator`)
  mustGo('pay_in', operator, market, ['payment_must_be_eligible', `${pointer}/operator`])
  mustBeIn(terms.currency, operator, ['payment_must_be_eligible', `${pointer}/operator`])
  mustBeWithin(terms.amountMinor, operator, ['payment_must_be_eligible', `${pointer}/operator`])
  mustFit(method.msisdn, market, ['payment_method_must_be_valid', `${pointer}/msisdn`])
  return named(method, operator)
}

export interface PayoutTerms {
  readonly currency: string
  /** Left out when a destination is saved for later payouts. */
  readonly amountMinor?: number
}

/**
 * Spec, Payouts 4. Checks where a payout goes; returns the destination with the operator's canonical name.
 */
export function admitPayout(
  terms: PayoutTerms,
  destination: Destination,
  pointer = '/destination',
): Destination {
  if (destination.type === 'mobile_money') return admitBeneficiary(terms, destination, pointer)
  mustBeToBanks(terms.currency, 'payout_must_have_one_valid_destination')
  return admitBank(terms, destination)
}

function mustBeToBanks(currency: string, reason: RefusalName): void {
  if (bankCurrencies.includes(currency)) return
  refuseField(reason, '/currency', `"${currency}" is not paid out to banks; ${oneOf(bankCurrencies)}`)
}

function admitBank({ amountMinor, currency }: PayoutTerms, destination: Destination): Destination {
  const limits = { code: 'a bank transfer', currency, ...cashlessLimitsOf(currency) }
  if (amountMinor !== undefined)
    mustBeWithin(amountMinor, limits, ['amount_must_be_within_the_limits', '/amount'])
  return destination
}

function admitBeneficiary(terms: PayoutTerms, destination: MobileMoney, pointer: string): MobileMoney {
  const market = marketIn(destination.country, 'operator_must_be_known', `${pointer}/country`)
  const operator = operatorOf(market, destination.operator, 'operator_must_be_known', `${pointer}/operator`)
  mustGo('payout', operator, market, ['operator_must_take_payouts', `${pointer}/operator`])
  mustBeIn(terms.currency, operator, ['payout_must_have_one_valid_destination', '/currency'])
  mustFit(destination.msisdn, market, ['payout_must_have_one_valid_destination', `${pointer}/msisdn`])
  if (terms.amountMinor !== undefined) {
    mustBeWithin(terms.amountMinor, operator, ['amount_must_be_within_the_limits', '/amount'])
  }
  return named(destination, operator)
}

/** With the operator's canonical name. */
function named<Method extends MobileMoney>(method: Method, { code }: Operator): Method {
  return method.operator === code ? method : { ...method, operator: code }
}

function marketIn(country: string, reason: RefusalName, pointer: string): Market {
  const market = marketOf(country)
  if (market) return market
  const supported = markets.map((each) => each.country)
  return refuseField(reason, pointer, `"${country}" is not a supported country; ${oneOf(supported)}`)
}

function operatorOf(market: Market, name: string, reason: RefusalName, pointer: string): Operator {
  const operator = operatorIn(market.country, name)
  if (operator) return operator
  const known = market.operators.map(({ code }) => code)
  return refuseField(reason, pointer, `"${name}" is not an operator in ${market.country}; ${oneOf(known)}`)
}

/** How a broken rule is refused, and the field that broke it. */
type Fault = readonly [reason: RefusalName, pointer: string]

const verbs = { pay_in: 'collect payments', payout: 'take payouts' } as const

function mustGo(direction: Direction, operator: Operator, market: Market, fault: Fault): void {
  if (operator.directions.includes(direction)) return
  const able = market.operators.filter(({ directions }) => directions.includes(direction))
  const allowed = oneOf(able.map(({ code }) => code))
  refuseField(...fault, `"${operator.code}" does not ${verbs[direction]} in ${market.country}; ${allowed}`)
}

function mustBeIn(currency: string, operator: Operator, fault: Fault): void {
  if (currency === operator.currency) return
  refuseField(...fault, `${operator.code} in ${operator.country} moves ${operator.currency}, not ${currency}`)
}

/** An operator, a card or a bank transfer. */
interface Mover extends Limits {
  readonly code: string
  readonly country?: string
  readonly currency: string
}

function mustBeWithin(amountMinor: number, mover: Mover, fault: Fault): void {
  if (moves(mover, amountMinor)) return
  refuseField(...fault, `${limitsIn(mover)}; the amount is ${spelledAmount(amountMinor)}`)
}

function moves({ minimumMinor, maximumMinor }: Limits, amountMinor: number): boolean {
  return amountMinor >= minimumMinor && amountMinor <= maximumMinor
}

function limitsIn({ code, country, currency, minimumMinor, maximumMinor }: Mover): string {
  const name = country === undefined ? code : `${code} in ${country}`
  return `${name} moves ${spelledAmount(minimumMinor)} to ${spelledAmount(maximumMinor)} ${currency}`
}

function mustFit(msisdn: string, market: Market, fault: Fault): void {
  if (msisdnFits(market.country, msisdn)) return
  const { country, msisdnExample } = market
  refuseField(...fault, `"${msisdn}" is not a number in ${country}; it must look like ${msisdnExample}`)
}

function oneOf(allowed: readonly string[]): string {
  return `one of ${allowed.join(', ')}`
}
