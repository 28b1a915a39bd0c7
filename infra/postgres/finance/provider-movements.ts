import type pg from 'pg'
import type { ReadTransaction } from '../client/read-transaction.ts'

export interface MovementsAsked {
  readonly rail: string
  readonly livemode: boolean
  readonly currency: string
  readonly from: string
  /** The first moment after it. */
  readonly to: string
  /** Nothing behind this position of the log. */
  readonly through: number
  /** Ours around that time are known too, for lines that tell of them on another day. */
  readonly around: string
}

export interface ProviderMovement {
  readonly entryId: string
  readonly book: string
  readonly position: number
  readonly reference: string
  /** In minor units; negative where money left the account. */
  readonly amount: number
  readonly effectiveAt: string
  readonly isWithin: boolean
}

const account = `'provider:' || $1`
/** Of one entry, what moves on the account is one movement. */
const net = `sum(case when side = 'debit' then amount else -amount end)`

/** Our movements on an operator's account in the order of the log, by batches. */
export function providerMovements(
  moment: ReadTransaction,
  { rail, livemode, currency, from, to, through, around }: MovementsAsked,
): AsyncGenerator<readonly ProviderMovement[], void> {
  return moment.batches<ProviderMovement>(
    `select j.entry as "entryId", j.book, j.position, j.amount, j.effective_at as "effectiveAt",
       j.effective_at >= $4::timestamptz and j.effective_at < $5::timestamptz as "isWithin",
       coalesce(case when j.subject_type = 'payment' then p.state #>> '{payment,operationId}' end, j.subject) as reference
     from (
       select entry, book, position, subject_type, subject, effective_at, ${net}::bigint as amount from read.journal
       where account = ${account} and livemode = $2 and currency = $3 and position <= $6
         and effective_at >= $4::timestamptz - $7::interval and effective_at < $5::timestamptz + $7::interval
       group by entry, book, position, subject_type, subject, effective_at
     ) j left join read.payments p on p.id = j.subject
     where j.amount <> 0 order by j.position`,
    [rail, livemode, currency, from, to, through, around],
  )
}

/** The same as one number, by the books alone. */
export async function providerMovement(
  moment: ReadTransaction,
  { rail, livemode, currency, from, to, through }: MovementsAsked,
): Promise<number> {
  const rows = await moment.all<{ amount: number | null }>(
    `select ${net} as amount from read.journal where account = ${account} and livemode = $2 and currency = $3
       and effective_at >= $4::timestamptz and effective_at < $5::timestamptz and position <= $6`,
    [rail, livemode, currency, from, to, through],
  )
  return Number(rows[0]?.amount ?? 0)
}

const referencesAtOnce = 1_000

/**
 * Which of these references are ours: given to an operator, or what an entry in the books is about.
 * `livemode` null: in either environment.
 */
export async function* ownReferences(
  moment: Pick<ReadTransaction, 'all'>,
  references: readonly string[],
  livemode: boolean | null = null,
): AsyncGenerator<string, void> {
  for (let from = 0; from < references.length; from += referencesAtOnce) {
    const rows = await moment.all<{ id: string }>(
      `select id from read.operations where id = any($1) and ($2::boolean is null or livemode = $2)
       union select subject from read.journal
       where subject = any($1) and ($2::boolean is null or livemode = $2)`,
      [references.slice(from, from + referencesAtOnce), livemode],
    )
    for (const { id } of rows) yield id
  }
}

export interface Settled {
  readonly rail: string
  readonly environment: string
  readonly currency: string
  /** Statements that were imported before this position. */
  readonly before: number
}

/** Entries of ours that earlier statements of the rail have told of. */
export async function settledEntries(
  moment: ReadTransaction,
  { rail, environment, currency, before }: Settled,
): Promise<ReadonlySet<string>> {
  const settled = new Set<string>()
  const batches = moment.batches<{ entry: string }>(
    `select r.entry from read.reconciliation r join read.statements s on s.id = r.statement
     where s.rail = $1 and s.environment = $2 and s.currency = $3 and s.position < $4
       and r.entry is not null and r.line is not null`,
    [rail, environment, currency, before],
  )
  for await (const rows of batches) for (const { entry } of rows) settled.add(entry)
  return settled
}

export interface Unfinished {
  readonly digest: string
  readonly importedAt: string
}

/** A statement of the rail, other than this one, of which not every finding is written down. */
export async function unfinishedStatement(
  pool: pg.Pool,
  { rail, environment, currency, except }: Omit<Settled, 'before'> & { readonly except: string },
): Promise<Unfinished | undefined> {
  const { rows } = await pool.query<Unfinished>(
    `select digest, imported_at as "importedAt" from read.statements
     where rail = $1 and environment = $2 and currency = $3 and id <> $4 and reconciled_at is null
     order by position limit 1`,
    [rail, environment, currency, except],
  )
  return rows[0]
}
