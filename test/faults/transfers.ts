import { merchantAvailable } from '../../packages/domain/ledger/accounts.ts'
import { transfer } from '../../packages/domain/transfers/transfer.ts'
import { readState } from '../../packages/kernel/history.ts'
import type { Runtime } from '../../services/composition/dependencies.ts'
import { eventually } from '../support/eventually.ts'

const currency = 'XOF'
const patienceMs = 60_000

/** Asks for transfers between merchants, as a family would: no route does. */
export class Transfers {
  readonly #runtime: Runtime
  readonly #merchants: readonly string[]
  #asked = 0

  constructor(runtime: Runtime, merchants: readonly string[]) {
    this.#runtime = runtime
    this.#merchants = merchants
  }

  /** Some are more than the balance covers. Resolves when the first of them is under way. */
  async ask(count: number): Promise<void> {
    const [first] = await Promise.all(Array.from({ length: count }, () => this.#askOne(this.#asked++)))
    const { store } = this.#runtime.dependencies
    const status = async () => (await readState(store, transfer, first!)).status
    await eventually(status, (now) => now !== 'requested', patienceMs)
  }

  async #askOne(number: number): Promise<string> {
    const { executor, newId } = this.#runtime.dependencies
    const id = newId()
    const [payer, receiver] = [this.#at(number), this.#at(number + 1 + (number % 2))]
    const amount = number % 7 === 0 ? 900_000_000 : 100 + number
    const data = {
      amount,
      currency,
      from: { merchant: payer, account: merchantAvailable },
      to: { merchant: receiver, account: merchantAvailable },
      description: null,
    } as const
    const envelope = { merchant: payer, livemode: false, actor: 'test', correlation: newId() }
    await executor.send(transfer, id, { type: 'RequestTransfer', data }, envelope)
    return id
  }

  #at(number: number): string {
    return this.#merchants[number % this.#merchants.length]!
  }
}
