import { LRUCache } from 'lru-cache'
import { asMerchant, type Owner } from '../../../packages/kernel/owner.ts'

const ownersKept = 50_000

/** This process's last write for each owner, so that the owner's next list reflects it. */
export class LastWrites {
  readonly #live = new LRUCache<string, number>({ max: ownersKept })
  readonly #sandbox = new LRUCache<string, number>({ max: ownersKept })

  note(owner: Owner, position: number): void {
    const { merchant, livemode } = asMerchant(owner)
    this.#positions(livemode).set(merchant, position)
  }

  last(owner: Owner): number {
    const { merchant, livemode } = asMerchant(owner)
    return this.#positions(livemode).get(merchant) ?? 0
  }

  #positions(livemode: boolean): LRUCache<string, number> {
    return livemode ? this.#live : this.#sandbox
  }
}
