import type { Caller } from '../../../packages/contract/routes.ts'
import { RecentlyUsed } from '../../../packages/kernel/recently-used.ts'

const merchantsKept = 50_000

/** What this process last wrote for each merchant, so that the merchant's next list shows it. */
export class LastWrites {
  readonly #live = new RecentlyUsed<number>(merchantsKept)
  readonly #sandbox = new RecentlyUsed<number>(merchantsKept)

  note({ merchant, livemode }: Caller, position: number): void {
    this.#positions(livemode).set(merchant, position)
  }

  last({ merchant, livemode }: Caller): number {
    return this.#positions(livemode).get(merchant) ?? 0
  }

  #positions(livemode: boolean): RecentlyUsed<number> {
    return livemode ? this.#live : this.#sandbox
  }
}
