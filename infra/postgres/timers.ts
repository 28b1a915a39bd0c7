import type pg from 'pg'
import {
  kindOfText,
  type DueTimer,
  type HeldUp,
  type Timers,
  type WantedTimers,
} from '../../packages/kernel/ports/reads.ts'
import { ownerIn, type Owner, type OwnerColumns } from '../../packages/kernel/owner.ts'
import { fenced, type Fence } from './consumers/fence.ts'
import { timerShares, type TimerShares } from './consumers/timer-shares.ts'
import { readSchema } from './read-models/tables.ts'
import { Batcher } from './client/batcher.ts'

type Timer = DueTimer<Owner>
type TimerKey = Pick<Timer, 'id' | 'dueAt'>
type Shared = Pick<TimerShares, 'held' | 'fenceNow'>

const nothing: HeldUp = { subjects: [], merchants: [], kindsOf: [] }

/**
 * Many timers may fall due at the same moment, so the time alone cannot identify the place to resume from.
 */
const begin: TimerKey = { dueAt: '-infinity', id: '' }

type Shares = readonly number[] | null

/** Which due timers are wanted; null stands for all of them. */
interface Some {
  readonly limit: number
  readonly kinds: readonly string[] | null
  /** Of which shares, and what is held up, as the statements ask for them. */
  readonly held: readonly (Shares | readonly string[])[]
}

interface Postponement extends TimerKey {
  readonly until: Date
}

/** Of a deleted timer only its attempts are left. */
type PostponedRow = TimerRow | (TimerKey & { readonly kind: null })

interface TimerRow extends OwnerColumns, TimerKey {
  readonly kind: string
  readonly subject: string
  readonly attempts: number
}

/** By this long after it fell due, a timer is in the read model; later ones are found by a full scan. */
const lateMsMax = 3_000
const lookAtAllEveryMs = 30_000

/** Of all the timers of one owner, which write to the same books. */
const shareOf = `hashtext(coalesce(t.merchant, t.organization, t."user", '')) & ${timerShares - 1}`

/** Whether anything that holds the timer up is among these subjects and merchants. */
const waits = (subjects: string, merchants: string) => `(
  split_part(t.subject, '.', 1) = any(${subjects}::text[])
  or (t.merchant = any(${merchants}::text[]) and not t.livemode))`

/** What `kindOfText` says of a timer. */
const kindOf = `t.kind || ' ' || coalesce(t.merchant || ' ' || t.livemode,
  'organization ' || t.organization, 'user ' || t."user", 'platform')`

const timerColumns = 't.kind, t.subject, t.merchant, t.livemode, t.organization, t."user"'

/** All that is asked of the read model, which an older program may have built without some of it. */
const columnsAsked = ['id', 'kind', 'subject', 'merchant', 'livemode', 'organization', 'user', 'due_at']
const builtStatement = `
  select count(*) = cardinality($1::text[]) as "isBuilt" from pg_attribute
  where attrelid = to_regclass('${readSchema}.timers') and attname = any($1) and not attisdropped`

/** Never run yet. The lower bound skips those that were run, of which there may be many. */
const freshStatement = `
  select t.id, ${timerColumns}, t.due_at as "dueAt", 0 as attempts
  from ${readSchema}.timers t
  where (t.due_at, t.id) > ($1, $5) and t.due_at <= $2 and ($4::text[] is null or t.kind = any($4))
    and ($6::integer[] is null or ${shareOf} = any($6)) and ${waits('$7', '$8')} is not true
    and (cardinality($9::text[]) = 0 or ${kindOf} <> all($9))
    and not exists (select from timer_attempts a where a.id = t.id and a.due_at = t.due_at)
  order by t.due_at, t.id limit $3`

const postponedStatement = `
  select a.id, ${timerColumns}, a.due_at as "dueAt", a.attempts
  from timer_attempts a left join ${readSchema}.timers t on t.id = a.id and t.due_at = a.due_at
  where a.again_at <= $1 and (t.kind is null or ($3::text[] is null or t.kind = any($3))
    and ($4::integer[] is null or ${shareOf} = any($4)) and ${waits('$5', '$6')} is not true
    and (cardinality($7::text[]) = 0 or ${kindOf} <> all($7)))
  order by a.again_at limit $2`

/**
 * Owners whose sandbox clock is ahead, with the time it shows. Of each only what is due first, so that one
 * with much to make up keeps no other back.
 */
const aheadStatement = `
  select next.* from unnest($1::text[], $2::timestamptz[]) as m (merchant, now) cross join lateral (
    select t.id, ${timerColumns}, t.due_at as "dueAt", coalesce(a.attempts, 0) as attempts
    from ${readSchema}.timers t left join timer_attempts a on a.id = t.id and a.due_at = t.due_at
    where t.merchant = m.merchant and not t.livemode and t.due_at <= m.now
      and (a.id is null or a.again_at <= m.now) and ($4::text[] is null or t.kind = any($4))
      and ($5::integer[] is null or ${shareOf} = any($5)) and ${waits('$6', '$7')} is not true
    order by t.due_at fetch first row with ties) as next
  order by "dueAt" limit $3`

const postponeStatement = `
  insert into timer_attempts as a (id, due_at, attempts, again_at)
  select id, due_at, 1, again_at
  from unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) as postponed (id, due_at, again_at)
  on conflict (id) do update set again_at = excluded.again_at, due_at = excluded.due_at,
    attempts = case when a.due_at = excluded.due_at then a.attempts + 1 else 1 end`

const forgetStatement = `
  delete from timer_attempts a using unnest($1::text[], $2::timestamptz[]) as gone (id, due_at)
  where a.id = gone.id and a.due_at = gone.due_at`

/**
 * More than the day by which timers are postponed at most. A merchant's clock may be ahead, whose timers then
 * run once more.
 */
const postponedMost = '25 hours'

/** Was postponed while the machine's clock was ahead, and would wait until then. */
const bringBackStatement = `
  update timer_attempts set again_at = $1::timestamptz
  where again_at > $1::timestamptz + interval '${postponedMost}'`

/**
 * The read model `timers`, and how often each timer has run: attempts are not events, so they are stored
 * beside it. Only who holds its share of the timers hands out and postpones one.
 */
export class PostgresTimers implements Timers {
  readonly #pool: pg.Pool
  readonly #shares: Shared | undefined
  readonly #postponements = new Batcher((batch: readonly Postponement[]) => this.#postpone(batch))
  /** Handed out for the first time and not postponed yet. */
  #begun = new Set<string>()
  /** Timers due before this have been run, unless they arrived late. */
  #freshFrom: TimerKey = begin
  #lookedAtAllAt = Number.NEGATIVE_INFINITY
  /** Unknown at first: the clock may have been set back before this process began. */
  #lastLookAt = Number.POSITIVE_INFINITY
  /** What the last look asked for, and what it left out. */
  #sharesText = ''
  #leftOut: ReadonlySet<string> = new Set()
  #isBuilt = false

  /** Without shares: all timers. */
  constructor(pool: pg.Pool, shares?: Shared) {
    this.#pool = pool
    this.#shares = shares
  }

  /** Nothing is due while the read model is still one of an older program: it is being built anew. */
  async due(now: Date, limit: number, wanted: WantedTimers = {}): Promise<readonly Timer[]> {
    this.#isBuilt ||= await this.#looksBuilt()
    if (!this.#isBuilt) return []
    if (now.getTime() < this.#lastLookAt) await this.#bringBack(now)
    this.#lastLookAt = now.getTime()
    const { kinds = null, except = [], ahead = [], heldUp = nothing } = wanted
    this.#leaveOut(except, heldUp)
    const shares = this.#wantedShares()
    const { subjects, merchants, kindsOf } = heldUp
    const values = [shares, subjects, merchants]
    const some = {
      limit,
      kinds: kinds && kinds.filter((kind) => !except.includes(kind)),
      held: [...values, kindsOf.map(kindOfText)],
    }
    const found = await Promise.all([
      this.#postponed(now, some),
      this.#fresh(now, some),
      this.#ahead(ahead, { limit, kinds, held: values }),
    ])
    const byId = new Map(found.flat().map((timer) => [timer.id, timer]))
    return [...byId.values()].sort((one, other) => (one.dueAt < other.dueAt ? -1 : 1)).map(timerOf)
  }

  postpone({ id, dueAt }: TimerKey, until: Date): Promise<void> {
    return this.#postponements.enqueue({ id, dueAt, until })
  }

  asHeldNow(): Pick<Timers, 'postpone'> {
    const fence = this.#shares?.fenceNow()
    return { postpone: ({ id, dueAt }, until) => this.#write([{ id, dueAt, until }], fence) }
  }

  async #looksBuilt(): Promise<boolean> {
    const { rows } = await this.#pool.query<{ isBuilt: boolean }>(builtStatement, [columnsAsked])
    return rows[0]!.isBuilt
  }

  /** Null: all. Behind the last look of another process, this one must look at all of its share. */
  #wantedShares(): Shares {
    const held = this.#shares?.held ?? []
    const isAll = !this.#shares || held.length === timerShares
    const sharesText = isAll ? 'all' : held.join()
    if (sharesText !== this.#sharesText) this.#lookedAtAllAt = Number.NEGATIVE_INFINITY
    this.#sharesText = sharesText
    return isAll ? null : held
  }

  /** What was left out before is behind the last look. */
  #leaveOut(except: readonly string[], { subjects, merchants, kindsOf }: HeldUp): void {
    const leftOut = new Set([
      ...except.map((kind) => `kind ${kind}`),
      ...subjects.map((subject) => `subject ${subject}`),
      ...merchants.map((merchant) => `merchant ${merchant}`),
      ...kindsOf.map((one) => `kind of ${kindOfText(one)}`),
    ])
    const isBack = (each: string) => !leftOut.has(each)
    if ([...this.#leftOut].some(isBack)) this.#lookedAtAllAt = Number.NEGATIVE_INFINITY
    this.#leftOut = leftOut
  }

  async #fresh(now: Date, { limit, kinds, held }: Some): Promise<readonly TimerRow[]> {
    const time = now.getTime()
    const looksAtAll = this.#begun.size > 0 || this.#isTimeForAll(time)
    const { dueAt, id } = looksAtAll ? begin : this.#freshFrom
    const values = [dueAt, now, limit, kinds, id, ...held]
    const { rows } = await this.#pool.query<TimerRow>(freshStatement, values)
    if (looksAtAll) this.#lookedAtAllAt = time
    this.#begun = new Set(rows.map(({ id }) => id))
    const recent = { dueAt: new Date(time - lateMsMax).toISOString(), id: '' }
    this.#freshFrom = rows.length === limit ? rows.at(-1)! : recent
    return rows
  }

  async #ahead(
    ahead: NonNullable<WantedTimers['ahead']>,
    { limit, kinds, held }: Some,
  ): Promise<readonly TimerRow[]> {
    if (ahead.length === 0) return []
    const merchants = ahead.map(({ merchant }) => merchant)
    const values = [merchants, ahead.map(({ now }) => now), limit, kinds, ...held]
    return (await this.#pool.query<TimerRow>(aheadStatement, values)).rows
  }

  /** Also when the clock was set back. */
  #isTimeForAll(time: number): boolean {
    return time - this.#lookedAtAllAt >= lookAtAllEveryMs || time < this.#lookedAtAllAt
  }

  /** Deletes the attempts of timers that are gone. */
  async #postponed(now: Date, { limit, kinds, held }: Some): Promise<readonly TimerRow[]> {
    for (;;) {
      const values = [now, limit, kinds, ...held]
      const { rows } = await this.#pool.query<PostponedRow>(postponedStatement, values)
      const gone = rows.filter(({ kind }) => kind === null)
      if (gone.length > 0) await this.#forget(gone)
      if (gone.length < limit) return rows.filter((row): row is TimerRow => row.kind !== null)
    }
  }

  async #bringBack(now: Date): Promise<void> {
    await fenced(this.#pool, this.#shares?.fenceNow(), (connection) =>
      connection.query(bringBackStatement, [now]),
    )
  }

  async #forget(gone: readonly TimerKey[]): Promise<void> {
    const values = [gone.map(({ id }) => id), gone.map(({ dueAt }) => dueAt)]
    await fenced(this.#pool, this.#shares?.fenceNow(), (connection) =>
      connection.query(forgetStatement, values),
    )
  }

  /** Timers run concurrently and end together, each of them once. */
  async #postpone(batch: readonly Postponement[]): Promise<readonly undefined[]> {
    await this.#write(batch, this.#shares?.fenceNow())
    return batch.map(() => undefined)
  }

  async #write(batch: readonly Postponement[], fence: Fence | undefined): Promise<void> {
    const values = [
      batch.map(({ id }) => id),
      batch.map(({ dueAt }) => dueAt),
      batch.map(({ until }) => until),
    ]
    const query = { name: 'postpone-timers', text: postponeStatement, values }
    await fenced(this.#pool, fence, (connection) => connection.query(query))
    for (const { id } of batch) this.#begun.delete(id)
  }
}

function timerOf(row: TimerRow): Timer {
  const { id, kind, subject, dueAt, attempts } = row
  return { id, kind, subject, dueAt, attempts, ...ownerIn(row) }
}
