import { InvalidArgumentError, type Command } from 'commander'
import type { Explanation } from '../../packages/domain/balances/explanation.ts'
import {
  classOf,
  parseBookId,
  type AccountCode,
  type BookKey,
} from '../../packages/domain/ledger/accounts.ts'
import { effect } from '../../packages/domain/ledger/postings.ts'
import { wholeBook } from '../composition/book-history.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { explainBalance } from '../composition/explain-balance.ts'
import { commandOf, time } from './arguments.ts'
import { withRuntime } from './dependencies.ts'
import { exitCodes } from './failure.ts'
import { grouped, print, table, type Printing } from './output.ts'

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

async function explain(runtime: Runtime, question: Question, options: Options): Promise<void> {
  const { book, account } = question
  const moment = { asOf: options.asOf?.toISOString(), knownAt: options.knownAt?.toISOString() }
  const explanation = await explainBalance(runtime.dependencies, { book, accounts: [account], ...moment })
  const amount = await counted(runtime, question, { ...moment, through: explanation.through })
  const unexplained = amount - explanation.sums.reduce((total, sum) => total + sum.amount, 0)
  const { shown, sums, holds } = explanation
  const report = { ...question, ...moment, amount, sums, unexplained, held: shown.reserved, holds }
  print(report, options, () => text(explanation, { account, amount, unexplained }))
  if (unexplained !== 0 || holds.unexplained !== 0) process.exitCode = exitCodes.found
}

interface Upto {
  readonly asOf: string | undefined
  readonly through: number
}

/** The same balance by counting every entry of the book, without any read model. */
async function counted({ dependencies }: Runtime, { book, account }: Question, { asOf, through }: Upto) {
  let amount = 0
  for await (const { revision, data } of wholeBook(dependencies, book, { asOf })) {
    if (revision >= through) break
    for (const posting of data.postings) if (posting.account === account) amount += effect(posting)
  }
  return amount
}

interface Result {
  readonly account: string
  readonly amount: number
  readonly unexplained: number
}

function text({ sums, holds, shown }: Explanation, { account, amount, unexplained }: Result): string {
  const open = holds.open.flatMap(({ subject, amount: held, entries }) => [
    `${subject.type} ${subject.id}: ${grouped(held)}`,
    ...entries.map(({ entryId, template, amount: moved, effectiveAt }) => {
      return `  ${effectiveAt}  ${template.padEnd(16)} ${grouped(moved).padStart(12)}  entry ${entryId}`
    }),
  ])
  return [
    `${account}: ${grouped(amount)}`,
    table(
      sums.map(({ template, purpose, amount: sum }) => ({ template, purpose, amount: sum })),
      'Nothing moved it.',
    ),
    unexplained === 0 ? 'The sums add up.' : `Unexplained: ${grouped(unexplained)}`,
    `Held in reserved and clearing: ${grouped(shown.reserved)}, in ${grouped(holds.open.length)} open holds`,
    ...(open.length > 0 ? [open.join('\n')] : []),
    ...(holds.unexplained === 0
      ? []
      : [`Held for no open hold that was found: ${grouped(holds.unexplained)}`]),
  ].join('\n\n')
}
