import type { MerchantOwner } from '../owner.ts'

export interface Image {
  readonly contentType: string
  readonly bytes: Uint8Array
}

export interface KeptImage extends Image {
  /** SHA-256 of the bytes, in hex. */
  readonly hash: string
  /** Those that the owner shows: others that are older than an hour are dropped. */
  readonly shown: readonly string[]
}

/** Where pictures are: too large for events, which name them by their hash. */
export interface Images {
  keep(owner: MerchantOwner, image: KeptImage): Promise<void>
  find(hash: string): Promise<Image | undefined>
  /** Whoever has sent this picture and may show it. */
  senders(hash: string): Promise<readonly MerchantOwner[]>
}
