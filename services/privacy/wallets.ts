import { isOneOf, parseBookId } from '../../packages/domain/ledger/accounts.ts'
import { book } from '../../packages/domain/ledger/book.ts'
import type { Entry } from '../../packages/domain/ledger/events.ts'
import { effect } from '../../packages/domain/ledger/postings.ts'
import { customer as customers } from '../../packages/domain/customers/customer.ts'
import type { RecordedEvent } from '../../packages/kernel/projection.ts'

export interface Wallet {
  readonly customer: string
  readonly currency: string
  readonly amount: number
}

/** What customers have paid in advance, counted from the log. */
export class Wallets {
  readonly #names: ReadonlySet<string>
  readonly #found = new Map<string, Wallet>()

  /** `customer/<id>`, among other names. */
  constructor(names: ReadonlySet<string>) {
    this.#names = names
  }

  look({ category, id, data }: RecordedEvent): void {
    if (category !== book.category) return
    for (const posting of (data as Partial<Entry>).postings ?? []) {
      if (!isOneOf(posting.account, ['wallet'])) continue
      const customer = posting.account.slice('wallet:'.length)
      if (!this.#names.has(`${customers.category}/${customer}`)) continue
      const { currency } = parseBookId(id)
      const key = `${customer} ${currency}`
      const amount = (this.#found.get(key)?.amount ?? 0) + effect(posting)
      this.#found.set(key, { customer, currency, amount })
    }
  }

  /** Those in which there is something. */
  get full(): readonly Wallet[] {
    return [...this.#found.values()].filter(({ amount }) => amount > 0)
  }
}
