import { Type } from '../../contract/vocabulary.ts'

export type AccountClass = 'asset' | 'liability' | 'revenue'

/** Domain model 2.1: the accounts that a book has once. */
const single = {
  'sandbox.funding': 'asset',
  'merchant.available': 'liability',
  'merchant.pending': 'liability',
  'merchant.reserved': 'liability',
  'clearing.payout': 'liability',
  'suspense.unmatched': 'liability',
  'revenue.payment_fees': 'revenue',
  'revenue.payout_fees': 'revenue',
  'revenue.wallet_fees': 'revenue',
  'revenue.escrow_fees': 'revenue',
  'revenue.funding_fees': 'revenue',
} as const satisfies Record<string, AccountClass>

/** Domain model 2.1: the accounts that a book has once per rail, customer, contract, … */
const plural = {
  provider: 'asset',
  'merchant.custom': 'liability',
  wallet: 'liability',
  'escrow.held': 'liability',
  'escrow.disputed': 'liability',
  campaign: 'liability',
  'seller.pending': 'liability',
  'seller.available': 'liability',
  'transfer.clearing': 'liability',
} as const satisfies Record<string, AccountClass>

type PluralName = keyof typeof plural

/** An account that a book has once, or the kind of one it has many of. */
export type AccountName = keyof typeof single | PluralName

/** `merchant.available`, or a kind with its subject: `provider:mobile_money.SN.wave`. */
export type AccountCode = keyof typeof single | `${PluralName}:${string}`

/** Spec, escrow: an account code has at most 100 characters. */
const codeLengthMax = 100

export const Account = Type.Unsafe<AccountCode>(Type.String({ minLength: 1, maxLength: codeLengthMax }))

export const sandboxFunding = 'sandbox.funding'
export const merchantAvailable = 'merchant.available'
export const merchantPending = 'merchant.pending'
export const merchantReserved = 'merchant.reserved'
export const clearingPayout = 'clearing.payout'
export const suspenseUnmatched = 'suspense.unmatched'
export const paymentFees = 'revenue.payment_fees'
export const payoutFees = 'revenue.payout_fees'

/** `account('wallet', customer)` gives `wallet:0190…`. */
export function account<Name extends PluralName>(name: Name, of: string): `${Name}:${string}` {
  const code = `${name}:${of}` as const
  if (of === '' || code.length > codeLengthMax) throw new Error(`${code} is not an account code`)
  return code
}

/** Our money at an operator or acquirer: `provider('mobile_money.SN.wave')`. */
export function provider(rail: string): AccountCode {
  return account('provider', rail)
}

/** What merchants' books have given each other; over all books together it is zero. */
export const betweenBooks = provider('internal')

export function classOf(code: AccountCode): AccountClass {
  const colon = code.indexOf(':')
  const classes: Record<string, AccountClass | undefined> = colon < 0 ? single : plural
  const found = classes[colon < 0 ? code : code.slice(0, colon)]
  if (!found) throw new Error(`${code} is not an account code`)
  return found
}

/** Whether an account has one of these names. Throws for an invalid account code. */
export function isOneOf(code: AccountCode, names: readonly AccountName[]): boolean {
  classOf(code)
  const colon = code.indexOf(':')
  return names.some((name) => name === (colon < 0 ? code : code.slice(0, colon)))
}

/** L2: the float at a rail is pooled over all books, and play money comes from nowhere. */
export function mayGoBelowZero(code: AccountCode): boolean {
  return classOf(code) === 'asset'
}

/** L3: these two contain exactly what open holds hold, so only a hold may move them. */
export function isHeld(code: AccountCode): boolean {
  return code === merchantReserved || code === clearingPayout
}

export interface BookKey {
  readonly merchant: string
  readonly livemode: boolean
  readonly currency: string
}

/** `<merchant>.<live|test>.<CUR>`; the book's stream is `ledger-<bookId>`. */
export function bookId(merchant: string, livemode: boolean, currency: string): string {
  const id = `${merchant}.${livemode ? 'live' : 'test'}.${currency}`
  parseBookId(id)
  return id
}

export function parseBookId(id: string): BookKey {
  if (id !== parsedLast?.id) parsedLast = { id, key: parsed(id) }
  return parsedLast.key
}

/** Several read models ask about the same entry in a row. */
let parsedLast: { readonly id: string; readonly key: BookKey } | undefined

function parsed(id: string): BookKey {
  const [, merchant, environment, currency] = /^([^.]+)\.(live|test)\.([A-Z]{3})$/.exec(id) ?? []
  if (!merchant || !currency) throw new Error(`${id} is not the id of a ledger book`)
  return { merchant, livemode: environment === 'live', currency }
}
