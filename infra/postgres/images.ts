import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import type { Image, Images, KeptImage } from '../../packages/kernel/ports/images.ts'
import type { MerchantOwner } from '../../packages/kernel/owner.ts'

/** Of at most 32 kB each. */
const imagesCached = 300

export class PostgresImages implements Images {
  readonly #pool: pg.Pool
  /** What a hash names never changes. */
  readonly #known = new LRUCache<string, Image>({ max: imagesCached })

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  async keep(
    { merchant, livemode }: MerchantOwner,
    { hash, contentType, bytes, shown }: KeptImage,
  ): Promise<void> {
    await this.#pool.query(
      `insert into images (merchant, livemode, hash, content_type, bytes) values ($1, $2, $3, $4, $5)
       on conflict (merchant, livemode, hash) do update set kept_at = now()`,
      [merchant, livemode, hash, contentType, bytes],
    )
    await this.#pool.query(
      `delete from images where merchant = $1 and livemode = $2 and hash <> all($3)
         and kept_at < now() - interval '1 hour'`,
      [merchant, livemode, [hash, ...shown]],
    )
  }

  async find(hash: string): Promise<Image | undefined> {
    const known = this.#known.get(hash)
    if (known) return known
    const { rows } = await this.#pool.query<Image>(
      'select content_type as "contentType", bytes from images where hash = $1 limit 1',
      [hash],
    )
    if (rows[0]) this.#known.set(hash, rows[0])
    return rows[0]
  }

  async senders(hash: string): Promise<readonly MerchantOwner[]> {
    const text = 'select merchant, livemode from images where hash = $1'
    return (await this.#pool.query<MerchantOwner>(text, [hash])).rows
  }
}
