import {
  merchantAvailable,
  merchantPending,
  type AccountCode,
} from '../../../packages/domain/ledger/accounts.ts'
import type { HoldPart, LedgerEvents, Subject } from '../../../packages/domain/ledger/events.ts'
import { amountsOf } from '../../../packages/domain/ledger/parts.ts'
import { one, post, rail, type Command } from './ledger-choices.ts'

interface Hold {
  readonly placed: LedgerEvents['HoldPlaced']
  /** Of each part. */
  readonly status: ReadonlyMap<string, string>
}

/** A payout, one in a batch, or a refund, whose hold has ended. */
export interface Ended {
  readonly subject: Subject
  readonly parts: readonly HoldPart[]
  readonly end: 'posted' | 'voided'
}

/** What an operator says of money after its hold has ended, and says again after that. */
export class LateWords {
  /** Templates of the entries that followed, by subject. */
  readonly #said = new Map<string, string[]>()

  note(subject: Subject, template: string): void {
    this.#said.set(subject.id, [...(this.#said.get(subject.id) ?? []), template])
  }

  /** `back`: only what was paid, and came back. */
  next(ended: readonly Ended[], pick: number, { back }: { readonly back: boolean }): Command | undefined {
    const open = ended.filter((each) => this.#mayChange(each) && (!back || this.#isPaid(each)))
    const chosen = one(open, pick)
    return chosen && this.#commandFor(chosen)
  }

  #commandFor(ended: Ended): Command {
    const { subject, parts } = ended
    const isPaid = this.#isPaid(ended)
    if (subject.type === 'payout')
      return post({ template: isPaid ? 'payout.return' : 'payout.paid_late', subject, parts })
    const { amount } = amountsOf(parts)
    const template = isPaid ? 'refund.return' : 'refund.paid_late'
    const nth = 1 + this.#saidOf(subject).filter((each) => each === template).length
    return post({ template, subject, nth, rail, amount, shares: sharesOf(parts) })
  }

  #isPaid({ subject, end }: Ended): boolean {
    const last = this.#saidOf(subject).at(-1)
    return last === undefined ? end === 'posted' : last.endsWith('paid_late')
  }

  /** A payout that came back is over; a refund is asked for as often as the provider changes its mind. */
  #mayChange({ subject }: Ended): boolean {
    return !this.#saidOf(subject).includes('payout.return')
  }

  #saidOf({ id }: Subject): readonly string[] {
    return this.#said.get(id) ?? []
  }
}

/** What was held for one thing, where all of it has ended in the same way. */
export function endedOf(holds: Iterable<Hold>): readonly Ended[] {
  return [...holds].flatMap(({ placed: { template, subject, parts }, status }) => {
    const things =
      template === 'batch.hold'
        ? parts.map((part) => ({ subject: { type: 'payout', id: part.id }, parts: [part] }))
        : [{ subject, parts }]
    return things.flatMap(({ subject, parts }): Ended[] => {
      const ends = new Set(parts.map(({ id }) => status.get(id)))
      const [end] = ends
      return ends.size === 1 && (end === 'posted' || end === 'voided') ? [{ subject, parts, end }] : []
    })
  })
}

/** The payment's card may have been released since: what was pending is available by then. */
function sharesOf(parts: readonly HoldPart[]) {
  const sums = new Map<AccountCode, number>()
  for (const { source, amount } of parts) {
    const account = source === merchantPending ? merchantAvailable : source
    sums.set(account, (sums.get(account) ?? 0) + amount)
  }
  return [...sums].map(([account, amount]) => ({ account, amount }))
}
