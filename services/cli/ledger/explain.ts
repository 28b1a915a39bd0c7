import { InvalidArgumentError, type Command } from 'commander'
import type { Moment } from '../../../packages/domain/balances/days.ts'
import type { ExplainedHolds } from '../../../packages/domain/balances/explanation.ts'
import {
  bookId,
  classOf,
  isHeld,
  parseBookId,
  type AccountCode,
  type BookKey,
} from '../../../packages/domain/ledger/accounts.ts'
import { effect } from '../../../packages/domain/ledger/postings.ts'
import { wholeBook } from '../../composition/books/book-history.ts'
import type { Runtime } from '../../composition/dependencies.ts'
import { openHolds } from '../../composition/books/explain-balance.ts'
import { commandOf, time } from '../terminal/arguments.ts'
import { withRuntime } from '../dependencies.ts'
import { exitCodes } from '../terminal/failure.ts'
import { grouped, print, table, type Printing } from '../terminal/output.ts'
import { upToDate, whileProjecting } from '../projecting.ts'

interface Options extends Printing {
  readonly asOf?: Date
  readonly knownAt?: Date
}

interface Question {
  readonly book: BookKey
  readonly account: AccountCode
}

export function addExplain(ledger: Command): void {
  commandOf(ledger, 'explain', 'what a balance consists of: sums by what moved it, and open holds one by one')
    .argument('<book>', '<merchant>.<live|test>.<CUR>', bookKey)
    .argument('<account>', 'merchant.available, provider:mobile_money.SN.wave, …', accountCode)
    .option('--as-of <time>', 'only what counts by then', time)
    .option('--known-at <time>', 'only what was known by then', time)
    .action((book: BookKey, account: AccountCode, options: Options) =>
      withRuntime((runtime) => explain(runtime, { book, account }, options)),
    )
}

function bookKey(text: string): BookKey {
  try {
    return parseBookId(text)
  } catch {
    throw new InvalidArgumentError('It must be <merchant>.<live|test>.<CUR>.')
  }
}

function accountCode(text: string): AccountCode {
  try {
    // Checked by the chart of accounts in the same breath.
    classOf(text as AccountCode)
    return text as AccountCode
  } catch {
    throw new InvalidArgumentError('It must be an account code of docs/finance.md.')
  }
}

interface Sum {
  readonly template: string
  readonly purpose: string
  readonly amount: number
}

interface Explained {
  readonly account: string
  /** Counted from the log, without any read model. */
  readonly amount: number
  /** As the journal has them. */
  readonly sums: readonly Sum[]
  readonly unexplained: number
  readonly held: number
  readonly holds: ExplainedHolds
}

async function explain(runtime: Runtime, question: Question, options: Options): Promise<void> {
  const { book, account } = question
  const moment = { asOf: options.asOf?.toISOString(), knownAt: options.knownAt?.toISOString() }
  const counted = await countBook(runtime, question, moment)
  const sums = await sumsOf(runtime, question, { ...moment, through: counted.position })
  const { amount, held } = counted
  const unexplained = amount - sums.reduce((total, sum) => total + sum.amount, 0)
  const about = { amount: held, before: counted.end }
  const holds = await openHolds(runtime.dependencies, { book, asOf: moment.asOf }, about)
  const explained: Explained = { account, amount, sums, unexplained, held, holds }
  print({ ...moment, ...explained }, options, () => text(explained))
  if (unexplained !== 0 || holds.unexplained !== 0) process.exitCode = exitCodes.found
}

/** The balance by counting every entry of the book. */
async function countBook({ dependencies }: Runtime, { book, account }: Question, { asOf, knownAt }: Moment) {
  let [amount, held, position, end] = [0, 0, 0, 0]
  for await (const event of wholeBook(dependencies, book, { knownAt })) {
    position = event.position
    end = event.revision + 1
    if (asOf !== undefined && event.data.effectiveAt > asOf) continue
    for (const posting of event.data.postings) {
      if (posting.account === account) amount += effect(posting)
      if (isHeld(posting.account)) held += effect(posting)
    }
  }
  return { amount, held, position, end }
}

/** What the journal says moved the account. */
async function sumsOf(
  runtime: Runtime,
  { book: { merchant, livemode, currency }, account }: Question,
  { asOf, through }: Moment & { readonly through: number },
): Promise<readonly Sum[]> {
  await whileProjecting(runtime, () => upToDate(runtime))
  const { rows } = await runtime.postgres.pool.query<Sum>(
    `select template, subject_type as purpose,
       sum(case when (side = 'debit') = (class = 'asset') then amount else -amount end)::bigint as amount
     from read.journal where book = $1 and account = $2 and position <= $3 and effective_at <= $4
     group by 1, 2 having sum(case when side = 'debit' then amount else -amount end) <> 0 order by 1, 2`,
    [bookId(merchant, livemode, currency), account, through, asOf ?? 'infinity'],
  )
  return rows
}

function text({ account, amount, sums, unexplained, held, holds }: Explained): string {
  const open = holds.open.flatMap(({ subject, amount: kept, entries }) => [
    `${subject.type} ${subject.id}: ${grouped(kept)}`,
    ...entries.map(({ entryId, template, amount: moved, effectiveAt }) => {
      return `  ${effectiveAt}  ${template.padEnd(16)} ${grouped(moved).padStart(12)}  entry ${entryId}`
    }),
  ])
  return [
    `${account}: ${grouped(amount)}`,
    table(
      sums.map((sum) => ({ ...sum })),
      'Nothing moved it.',
    ),
    unexplained === 0 ? 'The sums add up.' : `Unexplained: ${grouped(unexplained)}`,
    `Held in reserved and clearing: ${grouped(held)}, in ${grouped(holds.open.length)} open holds`,
    ...(open.length > 0 ? [open.join('\n')] : []),
    ...(holds.unexplained === 0
      ? []
      : [`Held for no open hold that was found: ${grouped(holds.unexplained)}`]),
  ].join('\n\n')
}
