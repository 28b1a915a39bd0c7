import { parseStreamName } from '../../../packages/kernel/decider.ts'
import type { StoredEvent } from '../../../packages/kernel/ports.ts'
import type { RailRequest } from '../../../packages/kernel/ports/rails.ts'
import type { RailWitness } from '../engines/rail.ts'
import type { SendingWitness } from '../engines/executor.ts'

type Violate = (law: string, fact: string) => void

/** From which status an event may lead where; what is not named here leaves the status as it is. */
type Steps = Readonly<Record<string, Readonly<Record<string, string>>>>

const payoutSteps: Steps = {
  PayoutRequested: { none: 'pending' },
  PayoutAbandoned: { none: 'abandoned' },
  PayoutSent: { pending: 'in_transit' },
  PayoutPaid: { in_transit: 'paid' },
  PayoutFailed: { pending: 'failed', in_transit: 'failed' },
  PayoutCanceled: { pending: 'canceled' },
  PayoutReturned: { paid: 'returned' },
  PayoutPaidLate: { failed: 'paid' },
}

const open = 'requires_payment_method'
const intentSteps: Steps = {
  PaymentIntentCreated: { none: open },
  PaymentIntentConfirmationStarted: { [open]: 'locked' },
  PaymentIntentConfirmationAborted: { locked: open },
  PaymentIntentSubmitted: { locked: 'processing' },
  PaymentIntentActionRequired: { locked: 'requires_action' },
  PaymentIntentSucceeded: { processing: 'succeeded', requires_action: 'succeeded' },
  PaymentIntentFailed: { processing: 'failed', requires_action: 'failed' },
  PaymentIntentCanceled: { [open]: 'canceled', requires_action: 'canceled' },
}

const refundSteps: Steps = {
  RefundRequested: { none: 'pending' },
  RefundAbandoned: { none: 'abandoned' },
  RefundSucceeded: { pending: 'succeeded' },
  RefundFailed: { pending: 'failed' },
  RefundReturned: { succeeded: 'failed' },
  RefundPaidLate: { failed: 'succeeded' },
}

const stepsOf: Readonly<Record<string, Steps>> = {
  payout: payoutSteps,
  payment_intent: intentSteps,
  refund: refundSteps,
}

/** What the log and the operators may say of payouts, payments and refunds: R1, R2 and R4. */
export class StreamLaws implements RailWitness, SendingWitness {
  /** Status of each stream, by its name. */
  readonly statuses = new Map<string, string>()
  /** What the operators hold for us, by book: what came in less what went out. */
  readonly floats = new Map<string, number>()
  readonly #violate: Violate
  readonly #executions = new Map<string, number>()
  readonly #intents = new Map<string, string>()
  readonly #confirmations = new Map<string, string>()
  readonly #calls = new Map<string, number>()
  readonly #sendings = new Map<string, number>()

  constructor(violate: Violate) {
    this.#violate = violate
  }

  onCommit({ stream, type, data, metadata }: StoredEvent): void {
    const { request } = metadata
    if (request) this.#sendings.set(request, this.eventsOf(request) + 1)
    const { category, id } = parseStreamName(stream)
    const step = stepsOf[category]?.[type]
    if (!step) return
    const status = this.statuses.get(stream) ?? 'none'
    const next = step[status]
    if (next === undefined) return this.#violate('R1', `${stream} is ${status}, and then ${type}`)
    this.statuses.set(stream, next)
    if (type === 'PaymentIntentConfirmationStarted') {
      this.#intents.set((data as { readonly operationId: string }).operationId, id)
    }
  }

  /** A timer asks the operator about it, so that a lost callback is no loss. */
  isAskedAbout(reference: string): boolean {
    const intent = this.#intents.get(reference)
    const status = intent
      ? this.statuses.get(`payment_intent-${intent}`)
      : (this.statuses.get(`payout-${reference}`) ?? this.statuses.get(`refund-${reference}`))
    return ['locked', 'processing', 'requires_action', 'in_transit', 'pending'].includes(status ?? '')
  }

  eventsOf(mark: string): number {
    return this.#sendings.get(mark) ?? 0
  }

  called({ kind, reference }: RailRequest): void {
    const calls = (this.#calls.get(reference) ?? 0) + 1
    this.#calls.set(reference, calls)
    if (kind === 'collection' && calls > 1)
      this.#violate('R4', `confirmation ${reference} is submitted again`)
  }

  received({ kind, reference }: RailRequest): void {
    if (kind === 'disbursement') this.#checkSent(reference, 'is received')
    if (kind !== 'collection') return
    const intent = this.#intents.get(reference)
    if (!intent) return this.#violate('R4', `${reference} reaches the provider and no intent knows it`)
    const other = this.#confirmations.get(intent)
    if (other)
      this.#violate('R4', `two confirmations of intent ${intent} reach the provider: ${other}, ${reference}`)
    this.#confirmations.set(intent, reference)
  }

  moved(request: RailRequest, how: Parameters<RailWitness['moved']>[1]): void {
    const { kind, reference, merchant, livemode, currency, amountMinor } = request
    const isReturn = how === 'returned'
    const executions = (this.#executions.get(reference) ?? 0) + (isReturn ? 0 : 1)
    this.#executions.set(reference, executions)
    if (executions > 1) this.#violate('R2', `${kind} ${reference} is executed ${executions} times`)
    if (kind === 'disbursement' && how === 'executed') this.#checkSent(reference, 'is executed')
    const book = `${merchant}.${livemode ? 'live' : 'test'}.${currency}`
    const comesIn = (kind === 'collection') !== isReturn
    this.floats.set(book, (this.floats.get(book) ?? 0) + (comesIn ? amountMinor : -amountMinor))
  }

  #checkSent(payout: string, what: string): void {
    const status = this.statuses.get(`payout-${payout}`) ?? 'none'
    if (status !== 'in_transit')
      this.#violate('R2', `payout ${payout} ${what} by its operator while it is ${status}`)
  }
}
