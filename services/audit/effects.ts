import type { RecordedEvent } from '../../packages/kernel/projection.ts'
import type { EntryData } from './entry-data.ts'
import { IdTable } from './id-table.ts'
import type { Note } from './violations.ts'

interface Money {
  readonly amount: number
  readonly fee: number
  readonly currency: string
  readonly rail: string
  /** What each account gets. */
  readonly credits?: readonly { readonly account: string; readonly amount: number }[]
}

/** An entry that an event owes the book, or is allowed to have there. */
interface Owed {
  readonly key: string
  /** Left out where the event does not say. */
  readonly money?: Money
  readonly merchant: string
  readonly livemode: boolean
  readonly position: number
  readonly event: string
  /** It may be there, or not. */
  readonly optional?: true
}

type Data = { readonly money: Money } & Money & {
    readonly shares?: Money['credits']
  } & { readonly operationId: string; readonly remedy: string; readonly refund: string } & {
    readonly nth: number
    readonly application: string
  } & {
    readonly to: { readonly merchant: string }
  }
/** `merchant` is named where the entry lies in another merchant's book than the event. */
type Owing = Pick<Owed, 'key' | 'money' | 'optional'> & { readonly merchant?: string }
type OwedBy = (data: Data, id: string) => Owing | undefined

const refundMoney = ({ amount, currency, rail }: Data) => ({ amount, fee: 0, currency, rail })
const returnedMoney = (data: Data) => ({ ...refundMoney(data), ...(data.shares && { credits: data.shares }) })
const paidMoney = ({ amount, fee, currency, rail, credits = [] }: Data) => {
  return { amount, fee, currency, rail, credits }
}

const transferMoney = ({ amount, currency }: Data) => ({ amount, fee: 0, currency, rail: 'internal' })

/** As it was when the charge followed at once, or a case was opened instead. */
const charged = (id: string, remedy: string, money: Money) => {
  return remedy === 'charge' ? ({ key: `charge ${id}`, money, optional: true } as const) : undefined
}

/** Domain model 2.3: which entry follows from which event. Its key says which step, and of what. */
const owedBy: Readonly<Record<string, OwedBy>> = {
  PayoutSent: ({ money }, id) => ({ key: `advance ${id}`, money }),
  PayoutPaid: ({ money }, id) => ({ key: `post ${id}`, money }),
  PayoutFailed: ({ money }, id) => ({ key: `void ${id}`, money }),
  PayoutCanceled: ({ money }, id) => ({ key: `void ${id}`, money }),
  PayoutReturned: ({ money }, id) => ({ key: `return ${id}`, money }),
  PayoutResultContradicted: ({ money, remedy }, id) => charged(id, remedy, money),
  PayoutChargeRequested: ({ money }, id) => ({ key: `charge ${id}`, money }),
  RefundSucceeded: (data, id) => ({ key: `post ${id}`, money: refundMoney(data) }),
  RefundFailed: (data, id) => ({ key: `void ${id}`, money: refundMoney(data) }),
  RefundReturned: (data, id) => ({ key: `return ${id}`, money: returnedMoney(data) }),
  RefundResultContradicted: (data, id) => charged(id, data.remedy, refundMoney(data)),
  PaymentIntentRefundCharged: (data) => ({ key: `charge ${data.refund}`, money: refundMoney(data) }),
  PaymentIntentSucceeded: (data, id) => ({ key: `payment ${id}`, money: paidMoney(data) }),
  PaymentIntentLateSuccessRecorded: (data) => ({
    key: `late ${data.operationId} 1`,
    money: refundMoney(data),
  }),
  PaymentIntentLateRefundContradicted: (data) => {
    if (data.remedy !== 'reopen') return undefined
    return { key: `late ${data.operationId} ${data.nth}`, money: refundMoney(data) }
  },
  PaymentIntentLateSuccessRefunded: (data) => ({
    key: `late refund ${data.operationId} ${data.nth}`,
    money: refundMoney(data),
  }),
  InvoiceWalletPaymentStarted: ({ application, ...data }) => ({
    key: `apply ${application}`,
    money: { ...data, rail: 'none' },
  }),
  TransferRequested: (data, id) => ({ key: `out ${id}`, money: transferMoney(data) }),
  TransferSent: (data, id) => ({ key: `in ${id}`, money: transferMoney(data), merchant: data.to.merchant }),
  TransferReceived: (data, id) => ({ key: `settle ${id}`, money: transferMoney(data) }),
  TransferRejected: (data, id) => ({ key: `back ${id}`, money: transferMoney(data) }),
}

/** The first events of streams that money is held for, and what they claim of it. */
const owners: Readonly<Record<string, (data: Data) => Money | undefined>> = {
  PayoutRequested: ({ money }) => money,
  PayoutAbandoned: () => undefined,
  RefundRequested: refundMoney,
  RefundAbandoned: () => undefined,
}

interface Claim {
  readonly money: Money
  readonly stream: string
  readonly metadata: RecordedEvent['metadata']
}

const steps: Readonly<Record<string, string>> = {
  HoldAdvanced: 'advance',
  HoldPosted: 'post',
  HoldVoided: 'void',
  'payout.return': 'return',
  'payout.paid_late': 'charge',
  'refund.paid_late': 'charge',
  'refund.return': 'return',
  'payment.succeeded': 'payment',
  'payment.succeeded_deferred': 'payment',
  'wallet.topup': 'payment',
  'escrow.fund': 'payment',
  'contribution.succeeded': 'payment',
  'order.paid': 'payment',
  'order.paid_deferred': 'payment',
  'payment.late': 'late',
  'payment.late_refund': 'late refund',
  'wallet.apply': 'apply',
  'transfer.out': 'out',
  'transfer.in': 'in',
  'transfer.settle': 'settle',
  'transfer.back': 'back',
}

/** What a book decides by itself: everything else follows from an event. */
const ownDecisions: ReadonlySet<string> = new Set(['payment.available', 'sandbox.topup', 'reversal'])

/** Matches events with their entries as the log goes by, and keeps only what is still unmatched. */
export class EffectsAudit {
  readonly #note: Note
  readonly #owed = new Map<string, Owed>()
  /** Holds that no stream has claimed, by their books and ids. */
  readonly #unclaimed = new Map<string, EntryData>()
  /** Streams that money was held for and that have begun: what they have not claimed goes back. */
  readonly #begun = new IdTable()
  readonly #sent = new IdTable()
  /** How often late money came, and went back, by its step and operation. */
  readonly #late = new Map<string, number>()

  constructor(note: Note) {
    this.#note = note
  }

  /** Any event that is no entry. */
  event({ type, stream, id, data, metadata, position }: RecordedEvent): void {
    if (type in owners) this.#begun.add(stream)
    // JSON of several families, each of which has the fields that its row of the table reads.
    const fields = data as Data
    const claimed = owners[type]?.(fields)
    if (claimed) this.#claim(id, { money: claimed, stream, metadata })
    if (type === 'PayoutSent') {
      if (this.#sent.has(id)) this.#note('payouts', `${stream} is sent again at position ${position}`)
      this.#sent.add(id)
    }
    const owed = owedBy[type]?.(fields, id)
    if (!owed) return
    const { merchant, livemode } = metadata
    const earlier = this.#owed.get(owed.key)
    if (earlier && !earlier.optional) {
      this.#note('effects', `${stream} says ${type} again at position ${position}`)
    }
    this.#owed.set(owed.key, { merchant, ...owed, livemode, position, event: `${type} of ${stream}` })
  }

  entry(event: RecordedEvent<EntryData>): void {
    const { type, id: book, data } = event
    const held = `${book} ${data.holdId}`
    if (type === 'HoldPlaced') return void this.#unclaimed.set(held, data)
    if (this.#isGivenBack(type, held)) return
    const step = steps[type] ?? steps[data.template]
    if (step === undefined && ownDecisions.has(data.template)) return
    const key = this.#keyOf(step, data.subject.id)
    const owed = this.#owed.get(key)
    this.#owed.delete(key)
    if (!owed) {
      return this.#note(
        'effects',
        `entry ${data.entryId} of ${book} (${data.template}) follows from no event`,
      )
    }
    this.#compare(owed, data, book)
  }

  /** Late money may go back and come again while the book is behind: each time is another entry. */
  #keyOf(step: string | undefined, subject: string): string {
    const key = `${step} ${subject}`
    if (step !== 'late' && step !== 'late refund') return key
    const nth = 1 + (this.#late.get(key) ?? 0)
    this.#late.set(key, nth)
    return `${key} ${nth}`
  }

  /** The book does not cover what an event owes it: nothing moves, and nothing is owed any more. */
  refused({ id: book, data }: RecordedEvent<EntryData>): void {
    if (this.#owed.delete(`${steps[data.template]} ${data.subject.id}`)) return
    this.#note(
      'effects',
      `entry ${data.entryId} of ${book} (${data.template}) is refused, but nobody asks for it`,
    )
  }

  /** Policies have done all up to their checkpoint. Answers how much of what came later is on its way. */
  end(policiesThrough: number): number {
    let pending = 0
    for (const { event, position, optional } of this.#owed.values()) {
      if (optional) continue
      if (position > policiesThrough) pending++
      else this.#note('effects', `${event} at position ${position} has no entry in the book`)
    }
    return pending
  }

  /** What nobody claims goes back once its owner has decided otherwise: no event is needed for that. */
  #isGivenBack(type: string, held: string): boolean {
    const unclaimed = this.#unclaimed.get(held)
    if (type !== 'HoldVoided' || !unclaimed || !this.#begun.has(unclaimed.owner ?? '')) return false
    this.#unclaimed.delete(held)
    return true
  }

  /** Domain model 1.6: the money is held before the request is written down. */
  #claim(id: string, { money, stream, metadata: { merchant, livemode } }: Claim): void {
    const { amount, fee, currency } = money
    const held = `${merchant}.${livemode ? 'live' : 'test'}.${currency} ${id}`
    const hold = this.#unclaimed.get(held)
    this.#unclaimed.delete(held)
    if (!hold) return this.#note('payouts', `${stream} was requested without a hold`)
    const { amounts } = hold
    if (amounts.amount === amount && amounts.fee === fee) return
    this.#note(
      'payouts',
      `${stream} is about ${amount} and a fee of ${fee}, but ${amounts.amount} and ${amounts.fee} were held`,
    )
  }

  #compare({ money, merchant, livemode, event }: Owed, data: EntryData, book: string): void {
    if (!money) return
    const say = (problem: string) =>
      this.#note('effects', `entry ${data.entryId} of ${book} ${problem} (${event})`)
    const { amount, fee, currency, rail, credits } = money
    if (book !== `${merchant}.${livemode ? 'live' : 'test'}.${currency}`) say('lies in the wrong book')
    const isSame = data.amounts.amount === amount && data.amounts.fee === fee
    if (!isSame) {
      say(`is about ${data.amounts.amount} and a fee of ${data.amounts.fee}, not ${amount} and ${fee}`)
    }
    if (credits) checkCredits(credits, data, say)
    const atRail = data.postings.find(({ account }) => account.startsWith('provider:'))
    if (atRail && (atRail.account !== `provider:${rail}` || atRail.amount !== amount)) {
      say(`moves ${atRail.amount} at ${atRail.account}, not ${amount} at provider:${rail}`)
    }
  }
}

/** Each account got what was agreed; by card, what is the merchant's is pending first. */
function checkCredits(
  credits: NonNullable<Money['credits']>,
  { postings }: EntryData,
  say: (problem: string) => void,
) {
  const left = new Map(credits.map(({ account, amount }) => [account, amount]))
  for (const { account, side, amount } of postings) {
    if (side !== 'credit' || account.startsWith('revenue.')) continue
    const name = account === 'merchant.pending' ? 'merchant.available' : account
    left.set(name, (left.get(name) ?? 0) - amount)
  }
  for (const [account, amount] of left) if (amount !== 0) say(`credits ${account} with ${amount} too little`)
}
