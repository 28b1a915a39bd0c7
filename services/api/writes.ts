import { LRUCache } from 'lru-cache'
import type { Caller } from '../../packages/contract/routes.ts'

const merchantsKept = 50_000

/** What this process last wrote for each merchant, so that the merchant's next list shows it. */
export class LastWrites {
  readonly #positions = new LRUCache<string, number>({ max: merchantsKept })

  note(caller: Caller, position: number): void {
    this.#positions.set(name(caller), position)
  }

  last(caller: Caller): number {
    return this.#positions.get(name(caller)) ?? 0
  }
}

function name({ merchant, livemode }: Caller): string {
  return `${merchant}.${livemode ? 'live' : 'test'}`
}
