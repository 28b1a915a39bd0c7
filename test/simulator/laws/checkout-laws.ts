import type { CheckoutSessionEvents } from '../../../packages/domain/checkout/checkout-session.ts'
import type { PaymentIntentEvents } from '../../../packages/domain/payment-intents/events.ts'
import type { PaymentLinkEvents } from '../../../packages/domain/payment-links/payment-link.ts'
import { parseStreamName } from '../../../packages/kernel/decider.ts'
import type { StoredEvent } from '../../../packages/kernel/ports.ts'

type Violate = (law: string, fact: string) => void

/** C1: a session is paid once, and so is a link for one payment. */
export class CheckoutLaws {
  readonly #violate: Violate
  /** Links that are for one payment. */
  readonly #forOne = new Set<string>()
  /** The link of each session. */
  readonly #links = new Map<string, string | null>()
  readonly #paid = new Map<string, number>()

  constructor(violate: Violate) {
    this.#violate = violate
  }

  /** How often a session or link has been paid. */
  paid(id: string): number {
    return this.#paid.get(id) ?? 0
  }

  onCommit({ stream, type, data }: StoredEvent): void {
    const { id } = parseStreamName(stream)
    if (type === 'PaymentLinkCreated' && (data as PaymentLinkEvents['PaymentLinkCreated']).isSingleUse)
      this.#forOne.add(id)
    if (type === 'CheckoutSessionOpened')
      this.#links.set(id, (data as CheckoutSessionEvents['CheckoutSessionOpened']).link)
    if (type === 'PaymentIntentSucceeded')
      this.#count(data as PaymentIntentEvents['PaymentIntentSucceeded'], 1)
    if (type === 'PaymentIntentPaymentReturned')
      this.#count(data as PaymentIntentEvents['PaymentIntentPaymentReturned'], -1)
  }

  #count({ purpose }: Pick<PaymentIntentEvents['PaymentIntentSucceeded'], 'purpose'>, change: number): void {
    if (purpose.type !== 'checkout' || purpose.id === null) return
    const link = this.#links.get(purpose.id) ?? null
    const times = this.#add(purpose.id, change)
    if (times > 1) this.#violate('C1', `session ${purpose.id} is paid ${times} times`)
    const ofLink = link === null ? 0 : this.#add(link, change)
    if (link !== null && this.#forOne.has(link) && ofLink > 1)
      this.#violate('C1', `link ${link}, for one payment, is paid ${ofLink} times`)
  }

  #add(id: string, change: number): number {
    const sum = this.paid(id) + change
    this.#paid.set(id, sum)
    return sum
  }
}
