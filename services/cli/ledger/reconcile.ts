import { readFileSync } from 'node:fs'
import { InvalidArgumentError, type Command } from 'commander'
import { AmountError, minorUnits, type DecimalMark } from '../../../infra/statements/amounts.ts'
import { fields, type ColumnMap } from '../../../infra/statements/columns.ts'
import { quoted, quotedColumns } from '../../../infra/statements/quoting.ts'
import { readStatement, type ReadStatement } from '../../../infra/statements/read-statement.ts'
import { StatementError } from '../../../infra/statements/statement-error.ts'
import { markets, operators } from '../../../packages/contract/payments/catalog.ts'
import { currencyExponent } from '../../../packages/contract/locale/currencies.ts'
import { timeZoneOf } from '../../../packages/contract/locale/time-zones.ts'
import { findingKinds } from '../../../packages/domain/statements/statement.ts'
import { ZoneClock } from '../../../packages/kernel/time/calendar.ts'
import { alone } from '../../composition/alone.ts'
import type { Runtime } from '../../composition/dependencies.ts'
import { reconcile, type ReconciledStatement } from '../../composition/books/reconcile.ts'
import { agreedFees } from './agreed-fees.ts'
import { currencyCode, word } from '../terminal/arguments.ts'
import { withRuntime } from '../dependencies.ts'
import { CommandFailedError, exitCodes } from '../terminal/failure.ts'
import { zone } from './months.ts'
import { grouped, print, progress, table, type Printing } from '../terminal/output.ts'
import { printableLines } from '../terminal/printable.ts'
import { upToDate, whileProjecting } from '../projecting.ts'

interface Options extends Printing {
  readonly rail: string
  readonly statement: string
  readonly map: ColumnMap
  readonly decimal: DecimalMark
  readonly currency?: string
  readonly timeZone?: string
  readonly sandbox?: true
  readonly opening?: string
  readonly closing?: string
  readonly fees?: string
}

export function addReconcile(program: Command): void {
  program
    .command('reconcile')
    .description(
      "compare an operator's statement with our account there, line by line; a file is imported once",
    )
    .requiredOption('--rail <rail>', 'mobile_money.SN.wave, card, bank.XOF', railName)
    .requiredOption('--statement <file>', 'CSV with a header')
    .option(
      '--map <columns>',
      'field=column, …: reference, amount or credit and debit, direction, fee, time, currency; ' +
        'with nothing behind = the file has none',
      columns,
      {},
    )
    .option(
      '--decimal <mark>',
      'what stands before the decimals: , or . or auto',
      word(['auto', ',', '.']),
      'auto',
    )
    .option('--currency <code>', "the operator's country decides when left out", currencyCode)
    .option('--time-zone <zone>', "of times without one; the operator's country decides when left out", zone)
    .option('--fees <fees>', 'what the operator takes by its contract, such as in=1.5%,out=0.5%+25')
    .option('--opening <amount>', 'what stood on the account before, as the operator says')
    .option('--closing <amount>', 'what stands on it now')
    .option('--sandbox', 'the sandbox instead of the live environment')
    .option('--json', 'print JSON')
    .action((options: Options) => withRuntime((runtime) => run(runtime, options)))
}

/** What is imported stays, so a misspelt rail must not be. */
function railName(text: string): string {
  const [kind, place = '', code, ...more] = text.split('.')
  const isBank = kind === 'bank' && code === undefined && currencyExponent(place) !== undefined
  const isOperator = operators.some((one) => one.country === place && one.code === code)
  if (text === 'card' || isBank || (kind === 'mobile_money' && isOperator && more.length === 0)) return text
  throw new InvalidArgumentError('It must be a rail such as mobile_money.SN.wave, card or bank.XOF.')
}

function columns(text: string): ColumnMap {
  const pairs = text.split(',').map((pair) => pair.split('=').map((part) => part.trim()))
  const named = pairs.map(([field]) => field)
  const unknown = named.find((field) => !fields.some((one) => one === field))
  const isPairs = pairs.every((pair) => pair.length === 2) && new Set(named).size === named.length
  if (isPairs && unknown === undefined) return Object.fromEntries(pairs) as ColumnMap
  const why = isPairs ? `There is no field ${quoted(unknown!)}, but ${fields.join(', ')}` : example
  throw new InvalidArgumentError(`${why}.`)
}

const example = 'It must be such as reference=ref,amount=montant,time=date, each field once'

async function run(runtime: Runtime, options: Options): Promise<void> {
  const { rail, sandbox } = options
  const currency = options.currency ?? currencyOf(rail)
  const timeZone = options.timeZone ?? timeZoneOf(rail.split('.')[1] ?? '')
  const clock = new ZoneClock(timeZone)
  const digits = currencyExponent(currency) ?? 0
  const bar = progress('comparing')
  const future = new Date(runtime.dependencies.clock().getTime() + dayMs).toISOString()
  const instantOf = (local: string) => clock.instantOf(local)
  const read = readFile(options, { currency, digits, future, instantOf })
  tellUnread(read)
  const moved = movedBy(options, digits)
  const fees = options.fees === undefined ? undefined : agreedFees(options.fees, digits)
  const done = await whileProjecting(runtime, async () => {
    await upToDate(runtime)
    const { dependencies, postgres } = runtime
    const asked = {
      dependencies,
      pool: postgres.pool,
      rail,
      currency,
      read,
      clock,
      timeZone,
      moved,
      fees,
      actor: 'cli',
    }
    // Two statements of a rail at the same time would both find the same entries.
    const found = await alone(runtime, { name: `reconcile ${rail}`, what: `reconciles ${rail}` }, () =>
      reconcile({ ...asked, environment: sandbox ? 'sandbox' : 'live', onProgress: bar.show }),
    )
    // Whoever asks finance.reconciliation next finds it there.
    await dependencies.reads.reached(await dependencies.store.head(), readModelsMs)
    return found
  })
  bar.end()
  print(done, options, () => text(done))
  if (!isClean(done)) process.exitCode = exitCodes.found
}

const readModelsMs = 60_000
/** No clock differs more from ours, in whatever zone. */
const dayMs = 86_400_000

function currencyOf(rail: string): string {
  const [kind, place = ''] = rail.split('.')
  if (kind === 'bank') return place
  const market = markets.find(({ country }) => country === place)
  if (market) return market.currency
  throw new CommandFailedError(`The currency of ${rail} does not follow from its name: name --currency.`)
}

type Reading = Pick<Parameters<typeof readStatement>[1], 'currency' | 'digits' | 'future' | 'instantOf'>

function readFile({ statement, map, decimal }: Options, reading: Reading) {
  try {
    return readStatement(readFileSync(statement), { ...reading, map, decimal })
  } catch (error) {
    if (error instanceof StatementError)
      throw new CommandFailedError(
        `${statement} was not imported, because not all of it can be read.\n${error.message}`,
      )
    const why = unreadable[(error as NodeJS.ErrnoException).code ?? '']
    if (why) throw new CommandFailedError(`${statement} ${why}.`)
    throw error
  }
}

/** Operators tell of much that nobody asks for, so it stops nothing; but one may be misspelt. */
function tellUnread({ unread }: Pick<ReadStatement, 'unread'>): void {
  if (unread.length === 0) return
  const sentence = `Not read: ${quotedColumns(unread)}. --map names columns of ${fields.join(', ')}.`
  process.stderr.write(`${printableLines(sentence)}\n`)
}

const unreadable: Readonly<Record<string, string>> = {
  ENOENT: 'is not there',
  ENOTDIR: 'is not there',
  EISDIR: 'is a directory',
  EACCES: 'may not be read',
}

function movedBy({ opening, closing, decimal }: Options, digits: number): number | undefined {
  const inMinorUnits = (option: string, text: string) => {
    try {
      return minorUnits(text, digits, decimal)
    } catch (error) {
      if (error instanceof AmountError) throw new CommandFailedError(`${option}: ${error.message}.`)
      throw error
    }
  }
  if (opening === undefined && closing === undefined) return undefined
  if (opening === undefined || closing === undefined)
    throw new CommandFailedError('--opening and --closing go together.')
  return inMinorUnits('--closing', closing) - inMinorUnits('--opening', opening)
}

function isClean({ result }: ReconciledStatement): boolean {
  const { counts, unexplained } = result
  const differs = findingKinds.some((kind) => !fine.includes(kind) && (counts[kind] ?? 0) > 0)
  return !differs && unexplained === 0
}

/** A movement that an earlier statement has told of is no difference. */
const fine: readonly string[] = ['matched', 'settled_before']

function text({ id, isRepeat, imported, result }: ReconciledStatement): string {
  const rows = findingKinds.map((kind) => {
    return { finding: kind, count: result.counts[kind] ?? 0, explains: result.explained[kind] ?? 0 }
  })
  return [
    `Statement ${id} of ${imported.rail}, ${imported.from} to ${imported.to}, ${grouped(imported.lines)} lines` +
      (isRepeat ? '; it was imported before.' : '.'),
    table(rows, ''),
    `The operator says ${grouped(result.theirs)}, the books say ${grouped(result.ours)}: a drift of ${grouped(result.drift)}.`,
    result.unexplained === 0 ? 'All of it is explained.' : `Unexplained: ${grouped(result.unexplained)}.`,
    `Line by line: select * from finance.reconciliation where statement_id = '${id}' and finding <> 'matched';`,
  ].join('\n\n')
}
