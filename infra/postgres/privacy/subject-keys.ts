import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import type { PersonalKeys } from '../../../packages/kernel/personal.ts'
import type { Subscription, Vault } from '../../../packages/kernel/ports.ts'
import { RecentlyUsed } from '../../../packages/kernel/execution/recently-used.ts'
import { hmacSha256 } from '../../secrets/hmac.ts'
import { UnknownMasterKeyError } from '../../secrets/vault.ts'
import { Batcher } from '../client/batcher.ts'

/** Names a key: `<digest of the subject>.<generation>`. */
export interface SubjectKey {
  readonly id: string
  /** As bytes: a key object is one more thing that the garbage collector must look after, at some cost. */
  readonly key: Buffer
}

export interface SubjectKeysOptions {
  readonly pool: pg.Pool
  readonly vault: Vault
  /** How old a process's knowledge of keys may be before it must look again to seal. */
  readonly freshMs?: number
}

const keyBytes = 32
const keysKept = 100_000
const digestLength = 32
const lookEveryMs = 1_000
/**
 * A process that has not looked for this long does not seal, so keys retired before that are no longer in use
 * anywhere.
 */
const freshMsDefault = 3_000

interface Row {
  readonly subject: string
  readonly generation: number
  readonly wrapped: string | null
}

/** A subject's digest, and its key unless that was tampered with. */
type Made = readonly [string, SubjectKey | undefined]

/** `false`: destroyed; `undefined`: not in this database, or no longer as it was written there. */
export type OpeningKey = Buffer | false | undefined

/** `<subject>.<generation>`. What is stored may have been tampered with. */
const idShape = /^([\w-]+)\.\d+$/

/** Of a key that was retired, if any was, with the database's time. */
type Retired = { readonly now: string } & (Row | { readonly subject: null })

/**
 * Keys of subjects, cached. A key is created with the first event of its subject, before that event is
 * written; later the database is only asked once a second which keys were retired.
 */
export class SubjectKeys implements PersonalKeys {
  readonly #pool: pg.Pool
  readonly #vault: Vault
  readonly #freshMs: number
  /** Keys in use, by subject in the clear. */
  readonly #inUse = new LRUCache<string, SubjectKey>({ max: keysKept })
  /** `false`: erased. */
  readonly #byId = new RecentlyUsed<Buffer | false>(keysKept)
  readonly #making = new Batcher<string, SubjectKey | undefined>((subjects) => this.#make(subjects))
  readonly #reading = new Batcher((pages: readonly (readonly string[])[]) => this.#read(pages))
  #digestKey: Promise<Buffer> | undefined
  #lookedAt = { monotonic: -Infinity, wall: 0 }
  /** The database's time at that look: processes' clocks differ, and stop while a machine sleeps. */
  #lookedAtThere: string | undefined
  #looking: Promise<void> | undefined
  /** Ids of keys known to be destroyed lately. */
  #destroyed: ReadonlySet<string> = new Set()
  readonly #onDestroyed = new Set<() => void>()
  #watching: NodeJS.Timeout | undefined

  constructor({ pool, vault, freshMs = freshMsDefault }: SubjectKeysOptions) {
    this.#pool = pool
    this.#vault = vault
    this.#freshMs = freshMs
  }

  /** The key that currently seals a subject's data, if cached. */
  inUse(subject: string): SubjectKey | undefined {
    const age = this.#age()
    if (age > lookEveryMs) this.#look().catch(() => undefined)
    return age > this.#freshMs ? undefined : this.#inUse.get(subject)
  }

  /** The same, created if there is none. */
  async forSealing(subject: string): Promise<SubjectKey> {
    if (this.#age() > this.#freshMs) await this.#look()
    const key = this.#inUse.get(subject) ?? (await this.#making.enqueue(subject))
    return key ?? Promise.reject(new Error('the key of a person is not as it was written in subject_keys'))
  }

  /** The keys of sealed data, in the order of their ids. Those that are not cached are read at once. */
  async forOpening(ids: readonly string[]): Promise<readonly OpeningKey[]> {
    if (this.#age() > this.#freshMs) await this.#look()
    const keys: OpeningKey[] = ids.map((id) => this.#byId.get(id))
    const missing = ids.filter((_, index) => keys[index] === undefined)
    if (missing.length === 0) return keys
    const found = await this.#reading.enqueue(missing)
    return keys.map((key, index) => key ?? found.get(ids[index]!))
  }

  async retire(subjects: readonly string[]): Promise<void> {
    await this.#pool.query(
      'update subject_keys set retired_at = now() where subject = any($1) and retired_at is null',
      [await this.#digests(subjects)],
    )
    for (const subject of subjects) this.#inUse.delete(subject)
    // Others may still seal with them until they have looked.
    await pause(this.#freshMs)
  }

  async destroyRetired(subjects: readonly string[]): Promise<void> {
    await this.#pool.query(
      `update subject_keys set wrapped = null, retired_at = now()
       where subject = any($1) and retired_at is not null and wrapped is not null`,
      [await this.#digests(subjects)],
    )
    await this.#look()
    // Others may still open with them until they have looked.
    await pause(this.#freshMs)
  }

  watch(onDestroyed: () => void): Subscription {
    this.#onDestroyed.add(onDestroyed)
    const look = () => void this.#look().catch(() => undefined)
    this.#watching ??= setInterval(look, lookEveryMs).unref()
    const close = async () => {
      this.#onDestroyed.delete(onDestroyed)
      if (this.#onDestroyed.size > 0) return
      clearInterval(this.#watching)
      this.#watching = undefined
      await this.#looking?.catch(() => undefined)
    }
    return { close }
  }

  async #make(subjects: readonly string[]): Promise<readonly (SubjectKey | undefined)[]> {
    const digests = await this.#digests(subjects)
    const found = new Map<string, SubjectKey | undefined>()
    while (digests.some((digest) => !found.has(digest))) {
      const missing = [...new Set(digests.filter((digest) => !found.has(digest)))]
      for (const [digest, key] of await this.#makeMissing(missing)) found.set(digest, key)
    }
    return subjects.map((subject, index) => {
      const key = found.get(digests[index]!)
      if (key) this.#inUse.set(subject, key)
      return key
    })
  }

  /** Undefined for a key that was tampered with, which concerns only what it seals. */
  #keep({ subject, generation, wrapped }: Row, made?: Buffer): SubjectKey | undefined {
    const id = `${subject}.${generation}`
    const known = this.#byId.get(id)
    if (known) return { id, key: known }
    const key = made ?? this.#unwrap(subject, wrapped!)
    if (key) this.#byId.set(id, key)
    return key && { id, key }
  }

  #unwrap(subject: string, wrapped: string): Buffer | undefined {
    try {
      return Buffer.from(this.#vault.open(wrapped, contextOf(subject)), 'base64')
    } catch (error) {
      if (error instanceof UnknownMasterKeyError) throw error
      return undefined
    }
  }

  /** The keys in use of these digests, except those that another process is creating right now. */
  async #makeMissing(subjects: readonly string[]): Promise<readonly Made[]> {
    const drawn = randomBytes(keyBytes * subjects.length)
    const seal = this.#vault.sealer()
    const fresh = subjects.map((subject, index) => {
      const key = drawn.subarray(index * keyBytes, (index + 1) * keyBytes)
      return { key, wrapped: seal(key.toString('base64'), contextOf(subject)) }
    })
    // Not prepared: it would keep the plan of a young table, a full scan, when that has grown.
    const values = [subjects, fresh.map(({ wrapped }) => wrapped)]
    const { rows } = await this.#pool.query<Row>(makeKeys, values)
    const made = new Map(fresh.map(({ wrapped, key }) => [wrapped, key]))
    return rows.map((row) => [row.subject, this.#keep(row, made.get(row.wrapped!))])
  }

  /** Reads all keys of these subjects, which usually have one. */
  async #read(pages: readonly (readonly string[])[]): Promise<readonly ReadonlyMap<string, OpeningKey>[]> {
    const subjects = new Set(pages.flat().flatMap((id) => idShape.exec(id)?.[1] ?? []))
    const found = new Map<string, OpeningKey>()
    const { rows } = await this.#pool.query<Row>(readKeys, [[...subjects].join(' ')])
    for (const row of rows) {
      const id = `${row.subject}.${row.generation}`
      if (row.wrapped === null) this.#byId.set(id, false)
      // Meanwhile this process may have learnt that it is destroyed.
      found.set(id, this.#byId.get(id) ?? this.#keep(row)?.key)
    }
    return pages.map(() => found)
  }

  /** How long ago this process has looked, by whichever clock says more: one may have stood still. */
  #age(): number {
    const { monotonic, wall } = this.#lookedAt
    return Math.max(performance.now() - monotonic, Date.now() - wall)
  }

  /** Drops keys that any process has retired since the last look. */
  #look(): Promise<void> {
    this.#looking ??= this.#forgetRetired().finally(() => (this.#looking = undefined))
    return this.#looking
  }

  async #forgetRetired(): Promise<void> {
    const at = { monotonic: performance.now(), wall: Date.now() }
    const { rows } = await this.#pool.query<Retired>(retiredSince, [this.#lookedAtThere])
    const retired = rows.filter((row) => row.subject !== null)
    const ids = new Set(retired.map(({ subject, generation }) => `${subject}.${generation}`))
    if (ids.size > 0)
      for (const [subject, { id }] of this.#inUse.entries()) if (ids.has(id)) this.#inUse.delete(subject)
    const destroyed = retired.filter(({ wrapped }) => wrapped === null)
    this.#noteDestroyed(destroyed.map(({ subject, generation }) => `${subject}.${generation}`))
    this.#lookedAt = at
    this.#lookedAtThere = rows[0]!.now
  }

  #noteDestroyed(ids: readonly string[]): void {
    for (const id of ids) this.#byId.set(id, false)
    const isNews = ids.some((id) => !this.#destroyed.has(id))
    this.#destroyed = new Set(ids)
    if (isNews) for (const tell of this.#onDestroyed) tell()
  }

  #digests(subjects: readonly string[]): Promise<readonly string[]> {
    return Promise.all(subjects.map((subject) => this.#digest(subject)))
  }

  async #digest(subject: string): Promise<string> {
    const key = await (this.#digestKey ??= this.#openDigestKey())
    return hmacSha256(key, subject, 'base64url').slice(0, digestLength)
  }

  /** Created once per database: under another one, the same subject would get a second key. */
  async #openDigestKey(): Promise<Buffer> {
    try {
      const [made] = await this.#makeMissing([''])
      if (!made) return await this.#openDigestKey()
      return made[1]?.key ?? refuseDigests()
    } catch (error) {
      this.#digestKey = undefined
      throw error
    }
  }
}

function refuseDigests(): never {
  throw new Error("the key of subjects' names is not as it was written in subject_keys")
}

/** What a key's seal under the master key is bound to. */
export function contextOf(subject: string): string {
  return `subject/${subject}`
}

/**
 * Returns the keys in use and creates missing ones, except those that another process is creating right now.
 * Always in the same order: two processes that create the same ones in different orders would deadlock.
 */
const makeKeys = `
  with asked as (select * from unnest($1::text[], $2::text[]) as asked (subject, wrapped)),
    known as (
      select subject, generation, wrapped from subject_keys where subject = any($1) and retired_at is null
    ),
    made as (
      insert into subject_keys (subject, generation, wrapped)
      select subject, (
          select coalesce(max(generation), 0) + 1 from subject_keys older where older.subject = asked.subject
        ), wrapped
      from asked where not exists (select from known where known.subject = asked.subject)
      order by subject
      on conflict do nothing
      returning subject, generation, wrapped
    )
  select * from known union all select * from made`

/** Subjects parted by blanks: to encode an array takes the driver longer. */
const readKeys = `
  select subject, generation, wrapped from subject_keys where subject = any(string_to_array($1, ' '))`

/** Ten minutes more: a transaction is seen later than the time it has begun at. */
const retiredSince = `
  select now()::text as now, subject, generation, wrapped
  from (select 1) one left join subject_keys
    on retired_at > coalesce($1::timestamptz, now()) - interval '10 minutes'`
