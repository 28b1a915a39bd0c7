import { classOf, type AccountCode } from './accounts.ts'
import type { Entry, HoldPart } from './events.ts'

/** Card money in a wallet that may not be spent yet. */
export interface YoungMoney {
  readonly payment: string
  /** What refunds have left of it. */
  left: number
  readonly until: string
}

/** The part of a book that says which money is young. */
export interface Aging {
  /** By account, so that a wallet's decisions cost nothing for the money in others. */
  readonly young: Record<string, readonly YoungMoney[]>
  /** How many there are, of all accounts. */
  youngPayments: number
  /** How many there were when those that had become old were dropped last. */
  youngKept: number
}

export function noYoung(): Aging {
  return { young: {}, youngPayments: 0, youngKept: 0 }
}

/** What may not be spent yet of an account. */
export function youngIn({ young }: Aging, account: AccountCode, now: Date): number {
  const at = now.toISOString()
  return (young[account] ?? []).reduce((total, { left, until }) => total + (until > at ? left : 0), 0)
}

/** What a book may keep of old money before it looks for it. */
const youngLeast = 64

/**
 * What has become old is dropped once there is twice as much as was kept the last time: there is never much,
 * and dropping costs each payment a constant.
 */
export function noteYoung(book: Aging, { subject, postings, effectiveAt }: Entry, until: string): void {
  if (book.youngPayments >= Math.max(youngLeast, 2 * book.youngKept)) {
    for (const account of Object.keys(book.young)) keepYoung(book, account, (one) => one.until > effectiveAt)
    book.youngKept = book.youngPayments
  }
  const credited = postings.find(({ side, account }) => side === 'credit' && classOf(account) === 'liability')
  if (!credited) return
  const { account, amount: left } = credited
  keepYoung(book, account, ({ payment }) => payment !== subject.id)
  book.young[account] = [...(book.young[account] ?? []), { payment: subject.id, left, until }]
  book.youngPayments++
}

export function keepYoung(book: Aging, account: string, isKept: (young: YoungMoney) => boolean): void {
  const before = book.young[account]
  if (!before) return
  const kept = before.filter(isKept)
  book.youngPayments -= before.length - kept.length
  if (kept.length > 0) book.young[account] = kept
  else delete book.young[account]
}

/** A refund takes the money of its own payment. */
export function takeYoung(
  book: Aging,
  payment: string | undefined,
  parts: readonly HoldPart[],
  sign: 1 | -1,
): void {
  if (payment === undefined) return
  for (const { source, amount } of parts) {
    const young = book.young[source]?.find((one) => one.payment === payment)
    if (young) young.left = Math.max(0, young.left + sign * amount)
  }
}
