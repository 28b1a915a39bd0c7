import {
  clearingPayout,
  merchantAvailable,
  merchantPending,
  merchantReserved,
  type AccountCode,
} from '../ledger/accounts.ts'
import type { Entry } from '../ledger/events.ts'
import { effect } from '../ledger/postings.ts'
import { balanceOf, type Balances, type Book } from '../ledger/state.ts'

export const nothing: Balances = { available: 0, pending: 0, reserved: 0 }

/** Domain model 2.4: which accounts make up which of the merchant's balances. */
const shownAs: Readonly<Partial<Record<AccountCode, keyof Balances>>> = {
  [merchantAvailable]: 'available',
  [merchantPending]: 'pending',
  [merchantReserved]: 'reserved',
  [clearingPayout]: 'reserved',
}

/** What an entry changes in a balance. */
export function movementOf({ postings }: Pick<Entry, 'postings'>): Balances {
  const moved = { ...nothing }
  for (const posting of postings) {
    const part = shownAs[posting.account]
    if (part) moved[part] += effect(posting)
  }
  return moved
}

export function sumOf(one: Balances, other: Balances): Balances {
  return {
    available: one.available + other.available,
    pending: one.pending + other.pending,
    reserved: one.reserved + other.reserved,
  }
}

/** Of a book, only the accounts that its merchant's balances show: it may have 100,000 others. */
export type ShownAccounts = Pick<Book, 'balances'>

/** What a book, or what was kept of it, shows. */
export function shownAccounts(book: ShownAccounts): ShownAccounts {
  const codes = Object.keys(shownAs) as readonly AccountCode[]
  return { balances: Object.fromEntries(codes.map((code) => [code, balanceOf(book, code)])) }
}

/** Modified in place, as a book is. */
export function afterShown(shown: ShownAccounts, { postings }: Pick<Entry, 'postings'>): ShownAccounts {
  for (const posting of postings) {
    const { account } = posting
    if (shownAs[account]) shown.balances[account] = balanceOf(shown, account) + effect(posting)
  }
  return shown
}
