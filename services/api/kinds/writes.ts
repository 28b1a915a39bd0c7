import { LRUCache } from 'lru-cache'
import type { MerchantOwner } from '../../../packages/kernel/owner.ts'

const merchantsKept = 50_000

/** This process's last write for each merchant, so that the merchant's next list reflects it. */
export class LastWrites {
  readonly #live = new LRUCache<string, number>({ max: merchantsKept })
  readonly #sandbox = new LRUCache<string, number>({ max: merchantsKept })

  note({ merchant, livemode }: MerchantOwner, position: number): void {
    this.#positions(livemode).set(merchant, position)
  }

  last({ merchant, livemode }: MerchantOwner): number {
    return this.#positions(livemode).get(merchant) ?? 0
  }

  #positions(livemode: boolean): LRUCache<string, number> {
    return livemode ? this.#live : this.#sandbox
  }
}
