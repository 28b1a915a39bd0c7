import { createHmac, createSecretKey, randomBytes, type KeyObject } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import type { PersonalKeys } from '../../../packages/kernel/personal.ts'
import type { Vault } from '../../../packages/kernel/ports.ts'
import { Batcher } from '../client/batcher.ts'

/** Names a key: `<digest of the subject>.<generation>`. */
export interface SubjectKey {
  readonly id: string
  readonly key: KeyObject
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
  readonly #byId = new LRUCache<string, KeyObject | false>({ max: keysKept })
  readonly #making = new Batcher<string, SubjectKey>((subjects) => this.#make(subjects))
  readonly #reading = new Batcher<string, KeyObject | false>((ids) => this.#read(ids))
  #digestKey: Promise<KeyObject> | undefined
  #lookedAt = 0
  #looking: Promise<void> | undefined

  constructor({ pool, vault, freshMs = freshMsDefault }: SubjectKeysOptions) {
    this.#pool = pool
    this.#vault = vault
    this.#freshMs = freshMs
  }

  /** The key that currently seals a subject's data, if cached. */
  inUse(subject: string): SubjectKey | undefined {
    const age = performance.now() - this.#lookedAt
    if (age > lookEveryMs) this.#look().catch(() => undefined)
    return age > this.#freshMs ? undefined : this.#inUse.get(subject)
  }

  /** The same, created if there is none. */
  async forSealing(subject: string): Promise<SubjectKey> {
    if (performance.now() - this.#lookedAt > this.#freshMs) await this.#look()
    return this.#inUse.get(subject) ?? this.#making.enqueue(subject)
  }

  /** The key of sealed data, if cached; `false` when it was destroyed. */
  known(id: string): KeyObject | false | undefined {
    return this.#byId.get(id)
  }

  forOpening(id: string): Promise<KeyObject | false> {
    return this.#reading.enqueue(id)
  }

  async destroy(subject: string): Promise<void> {
    const digest = await this.#digest(subject)
    await this.#pool.query(
      'update subject_keys set retired_at = now() where subject = $1 and retired_at is null',
      [digest],
    )
    this.#inUse.delete(subject)
    // Others may still seal with it until they have looked: what they write must be erased too.
    await pause(this.#freshMs)
    const { rows } = await this.#pool.query<{ generation: number }>(
      `update subject_keys set wrapped = null, retired_at = now()
       where subject = $1 and retired_at is not null returning generation`,
      [digest],
    )
    for (const { generation } of rows) this.#byId.set(`${digest}.${generation}`, false)
  }

  async #make(subjects: readonly string[]): Promise<readonly SubjectKey[]> {
    const digests = await Promise.all(subjects.map((subject) => this.#digest(subject)))
    const found = new Map<string, SubjectKey>()
    while (digests.some((digest) => !found.has(digest))) {
      const missing = [...new Set(digests.filter((digest) => !found.has(digest)))]
      const fresh = missing.map((digest) => this.#wrap(digest, randomBytes(keyBytes)))
      const { rows } = await this.#pool.query<Row>(makeKeys, [missing, fresh])
      for (const row of rows) found.set(row.subject, this.#keep(row))
    }
    return subjects.map((subject, index) => {
      const key = found.get(digests[index]!)!
      this.#inUse.set(subject, key)
      return key
    })
  }

  #keep({ subject, generation, wrapped }: Row): SubjectKey {
    const id = `${subject}.${generation}`
    const known = this.#byId.get(id)
    if (known) return { id, key: known }
    const key = createSecretKey(Buffer.from(this.#vault.open(wrapped!, contextOf(subject)), 'base64'))
    this.#byId.set(id, key)
    return { id, key }
  }

  #wrap(subject: string, key: Buffer): string {
    return this.#vault.seal(key.toString('base64'), contextOf(subject))
  }

  async #read(ids: readonly string[]): Promise<readonly (KeyObject | false)[]> {
    const text = `
      select subject, generation, wrapped from subject_keys
      where subject = any($2) and subject || '.' || generation = any($1)`
    const subjects = [...new Set(ids.map((id) => id.slice(0, id.lastIndexOf('.'))))]
    const { rows } = await this.#pool.query<Row>(text, [ids, subjects])
    for (const row of rows) {
      if (row.wrapped === null) this.#byId.set(`${row.subject}.${row.generation}`, false)
      else this.#keep(row)
    }
    return ids.map((id) => {
      const key = this.#byId.get(id)
      if (key === undefined) throw new Error(`there is no key ${id}: the log belongs to another database`)
      return key
    })
  }

  /** Drops keys that any process has retired lately. */
  #look(): Promise<void> {
    this.#looking ??= this.#forgetRetired().finally(() => (this.#looking = undefined))
    return this.#looking
  }

  async #forgetRetired(): Promise<void> {
    const at = performance.now()
    const { rows } = await this.#pool.query<Row>(retiredLately)
    const ids = new Set(rows.map(({ subject, generation }) => `${subject}.${generation}`))
    if (ids.size > 0)
      for (const [subject, { id }] of this.#inUse.entries()) if (ids.has(id)) this.#inUse.delete(subject)
    for (const { subject, generation, wrapped } of rows)
      if (wrapped === null) this.#byId.set(`${subject}.${generation}`, false)
    this.#lookedAt = at
  }

  async #digest(subject: string): Promise<string> {
    const key = await (this.#digestKey ??= this.#openDigestKey())
    return createHmac('sha256', key).update(subject).digest('base64url').slice(0, digestLength)
  }

  /** Created once per database: under another one, the same subject would get a second key. */
  async #openDigestKey(): Promise<KeyObject> {
    try {
      const { rows } = await this.#pool.query<Row>(makeKeys, [[''], [this.#wrap('', randomBytes(keyBytes))]])
      return rows[0] ? this.#keep(rows[0]).key : await this.#openDigestKey()
    } catch (error) {
      this.#digestKey = undefined
      throw error
    }
  }
}

/** What a key's seal under the master key is bound to. */
export function contextOf(subject: string): string {
  return `subject/${subject}`
}

/**
 * Returns the keys in use and creates missing ones, except those that another process is creating right now.
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
      on conflict do nothing
      returning subject, generation, wrapped
    )
  select * from known union all select * from made`

const retiredLately = `
  select subject, generation, wrapped from subject_keys where retired_at > now() - interval '10 minutes'`
