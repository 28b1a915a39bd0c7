import { LRUCache } from 'lru-cache'
import type { Caller } from '../../../packages/contract/routes.ts'

const merchantsKept = 50_000

/** What this process last wrote for each merchant, so that the merchant's next list shows it. */
export class LastWrites {
  readonly #live = new LRUCache<string, number>({ max: merchantsKept })
  readonly #sandbox = new LRUCache<string, number>({ max: merchantsKept })

  note({ merchant, livemode }: Caller, position: number): void {
    this.#positions(livemode).set(merchant, position)
  }

  last({ merchant, livemode }: Caller): number {
    return this.#positions(livemode).get(merchant) ?? 0
  }

  #positions(livemode: boolean): LRUCache<string, number> {
    return livemode ? this.#live : this.#sandbox
  }
}
