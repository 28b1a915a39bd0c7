import { identity } from '../../../packages/contract/identity.ts'
import { lateRefundIdOf } from '../../../packages/domain/payment-intents/state.ts'
import type { RailState } from '../../../packages/kernel/ports/rails.ts'
import { eventually } from '../eventually.ts'
import { orange } from '../payments/payments.ts'
import { failed, succeeded, type ScriptedRail } from '../payments/scripted-rail.ts'
import type { TestService } from '../service.ts'

export const amount = 5_000
export const patienceMs = 20_000

export interface Late {
  readonly id: string
  readonly operation: string
  /** The first references under which the money goes back. */
  readonly first: string
  readonly second: string
}

/** Payments whose money arrives after their intents have ended. */
export class LatePayments {
  readonly #service: TestService
  readonly #provider: ScriptedRail

  constructor(service: TestService, provider: ScriptedRail) {
    this.#service = service
    this.#provider = provider
  }

  async confirm(sum = amount): Promise<Pick<Late, 'id' | 'operation'>> {
    const order = { amount: sum, currency: 'XOF', transaction_country: 'SN' }
    const { body } = await this.#service.post('/api/v1/payment-intents', order)
    const path = `/api/v1/payment-intents/${String(body['id'])}/confirm`
    const confirmed = await this.#service.post(path, orange())
    // A provider that reports what nobody knows yet calls again; this one does not.
    await this.caughtUp()
    const operation = identity(String(confirmed.body['operation_id']), 'op')!
    return { id: identity(String(body['id']), 'pi')!, operation }
  }

  async caughtUp(): Promise<void> {
    const { reads, store } = this.#service.service.runtime.dependencies
    await reads.reached(await store.head(), 10_000)
  }

  /** Its intent has failed, and the provider answers the first refund like this. */
  async pay(answer: RailState, sum = amount): Promise<Late> {
    this.#provider.answer = ({ kind }) => (kind === 'refund' ? answer : { state: 'pending' })
    const { id, operation } = await this.confirm(sum)
    await this.#provider.say(operation, failed)
    await this.#provider.say(operation, succeeded)
    const [first, second] = [lateRefundIdOf(operation), lateRefundIdOf(operation, 1)]
    await this.#provider.submitted(({ reference }) => reference === first)
    if (answer.state === 'failed') await this.until(id, 'PaymentIntentLateRefundFailed')
    await this.caughtUp()
    return { id, operation, first, second }
  }

  async typesOf(id: string): Promise<readonly string[]> {
    const { store } = this.#service.service.runtime.dependencies
    return (await store.readStream(`payment_intent-${id}`, 0)).map(({ type }) => type)
  }

  async until(id: string, type: string): Promise<void> {
    await eventually(
      () => this.typesOf(id),
      (types) => types.includes(type),
      patienceMs,
    )
  }
}
