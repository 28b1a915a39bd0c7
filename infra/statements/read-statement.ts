import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { parse } from 'csv-parse/sync'
import { AmountError, minorUnits, type DecimalMark } from './amounts.ts'
import { columnsOf, onOneLine, unreadAmong, type ColumnMap, type Field } from './columns.ts'
import { clipped, quoted } from './quoting.ts'
import { StatementError } from './statement-error.ts'

/** A line of an operator's file, before anything is known of it. */
export interface ReadLine {
  /** 1 is the first behind the header. */
  readonly number: number
  readonly reference: string
  readonly amount: number
  readonly fee: number
  readonly at: string
}

export interface ReadStatement {
  /** SHA-256 of the file. */
  readonly digest: string
  readonly lines: readonly ReadLine[]
  /** Columns of which nothing was read. */
  readonly unread: readonly string[]
}

export interface StatementOptions {
  readonly currency: string
  /** Minor digits of the currency. */
  readonly digits: number
  readonly map: ColumnMap
  readonly decimal: DecimalMark
  /** No line can be of this time or a later one. */
  readonly future: string
  /** The time at which clocks at the operator show this. */
  readonly instantOf: (local: string) => string
}

const bytesMax = 300_000_000
const problemsMax = 20

/** Reads all of a file or nothing: one line that cannot be understood refuses the whole. */
export function readStatement(bytes: Buffer, options: StatementOptions): ReadStatement {
  if (bytes.length > bytesMax) throw new StatementError(['The file is larger than 300 MB: cut it into days.'])
  const text = decoded(bytes)
  const [names, ...rows] = recordsOf(text)
  const header = names?.map(onOneLine)
  if (!header || rows.length === 0) throw new StatementError(['The file has no lines.'])
  const columns = columnsOf(header, options.map)
  const cellOf = (row: readonly string[], field: Field) => row[columns.get(field) ?? -1]?.trim() ?? ''
  const problems: string[] = []
  let wrong = 0
  const lines = rows.map((row, index) => {
    try {
      return lineOf(index + 1, (field) => cellOf(row, field), options)
    } catch (error) {
      if (!(error instanceof AmountError || error instanceof StatementError)) throw error
      if (wrong++ < problemsMax) problems.push(`Line ${index + 1}: ${error.message}`)
      return undefined
    }
  })
  if (wrong > 0) throw new StatementError(problems, wrong - problems.length)
  const read = lines.filter((line) => line !== undefined)
  checkWhole(read)
  if (read.every(({ reference }) => reference === ''))
    refuseForeign(rows.map((row) => cellOf(row, 'reference')))
  const digest = createHash('sha256').update(bytes).digest('hex')
  return { digest, lines: read, unread: unreadAmong(header, columns) }
}

/** One mistyped year would make every movement between missing on the statement. */
const spanMsMax = 366 * 86_400_000

function checkWhole(lines: readonly ReadLine[]): void {
  let [first, last, sum] = [lines[0]!, lines[0]!, 0]
  for (const line of lines) {
    if (line.at < first.at) first = line
    if (line.at > last.at) last = line
    sum += Math.abs(line.amount) + line.fee
  }
  if (!Number.isSafeInteger(sum))
    throw new StatementError(['Its amounts add up to more than can be counted.'])
  if (Date.parse(last.at) - Date.parse(first.at) <= spanMsMax) return
  const ends = `line ${first.number} is of ${first.at} and line ${last.number} of ${last.at}`
  throw new StatementError([`It is about more than a year: ${ends}.`])
}

/** None of them is ours: the column is one of the operator's own, and ours is another one or none. */
export function refuseForeign(references: readonly string[], where = ''): void {
  const foreign = references.find((text) => text !== '')
  if (foreign === undefined) return
  throw new StatementError([
    `Of its references, such as ${quoted(foreign)}, none is ours${where}: ` +
      'say --map reference=…, or --map reference= if it has none of ours.',
  ])
}

const saysUtf8 = Buffer.from('efbbbf', 'hex')

/** UTF-8, UTF-16 that says so, or what is left: Windows-1252, in which any bytes are text. */
function decoded(bytes: Buffer): string {
  const text = new TextDecoder(encodingOf(bytes)).decode(bytes)
  if (text.includes('\0')) throw new StatementError(['The file is no text: it has bytes of zero.'])
  return text
}

function encodingOf(bytes: Buffer): string {
  const mark = bytes.subarray(0, 2).toString('hex')
  if (mark === 'fffe') return 'utf-16le'
  if (mark === 'feff') return 'utf-16be'
  if (isUtf8(bytes)) return 'utf-8'
  // In another encoding, the mark would become part of the first column's name.
  if (bytes.subarray(0, 3).equals(saysUtf8))
    throw new StatementError(['The file says that it is UTF-8, and some of its bytes are not.'])
  return 'windows-1252'
}

/** The first line with more than marks: what stands before it is skipped. */
const headerLine = /^.*[\p{L}\p{N}].*$/mu
/** A name may have several lines. */
const quotedCells = /"[^"]*"/g
const headerRecord = /^(?:"[^"]*"|[^"\r\n])*/
const headerLengthMost = 100_000

/** Files that were put together have several of them. */
const lineEnds = ['\r\n', '\n', '\r']

/**
 * Spreadsheet programs say so before the header what parts the columns: `sep=;`. Marks of empty columns may
 * stand behind it.
 */
const separatorLine = /^\s*(["']?)sep=(["']?)([^\p{L}\p{N}\r\n"'])\2\1[ \t;,|]*(?=[\r\n])/iu

function recordsOf(text: string): readonly (readonly string[])[] {
  const [said = '', , , separator] = separatorLine.exec(text) ?? []
  return parsed(text.slice(said.length), separator)
}

function parsed(text: string, separator: string | undefined): readonly (readonly string[])[] {
  const unquoted = unquotedHeader(text)
  const delimiters = [';', '\t', '|', ',']
  const countOf = (mark: string) => unquoted.split(mark).length
  const usual = delimiters.reduce((best, mark) => (countOf(mark) > countOf(best) ? mark : best))
  const delimiter = separator ?? usual
  try {
    const skipping = { skip_empty_lines: true, skip_records_with_empty_values: true }
    return parse(text, { delimiter, record_delimiter: lineEnds, ...skipping })
  } catch (error) {
    throw new StatementError([`The file is no CSV: ${clipped((error as Error).message)}`])
  }
}

/** What is quoted parts nothing. */
function unquotedHeader(text: string): string {
  const at = headerLine.exec(text)?.index ?? 0
  const [header = ''] = headerRecord.exec(text.slice(at, at + headerLengthMost)) ?? []
  return header.replaceAll(quotedCells, '')
}

type Cell = (field: Field) => string

function lineOf(number: number, cell: Cell, options: StatementOptions): ReadLine {
  const currency = cell('currency')
  if (currency !== '' && currency.toUpperCase() !== options.currency)
    throw new StatementError([`its currency is ${clipped(currency)}, not ${options.currency}`])
  const fee = cell('fee') === '' ? 0 : Math.abs(amountIn(cell('fee'), options))
  return {
    number,
    reference: referenceOf(cell('reference')),
    amount: signedAmount(cell, options),
    fee,
    at: pastTimeOf(cell('time'), options),
  }
}

function amountIn(text: string, { digits, decimal }: StatementOptions): number {
  return minorUnits(text, digits, decimal)
}

const inward = /^(c|cr|credit|crédit|in|collection|payment|deposit|cashin)$/i
const outward = /^(d|dr|debit|débit|out|disbursement|payout|refund|withdrawal|cashout)$/i

/** Negative where money has left our account. */
function signedAmount(cell: Cell, options: StatementOptions): number {
  if (cell('amount') === '') {
    if (cell('credit') === '' && cell('debit') === '') throw new StatementError(['it has no amount'])
    const [credit, debit] = [cell('credit'), cell('debit')].map((text) =>
      text === '' ? 0 : amountIn(text, options),
    )
    return credit! - Math.abs(debit!)
  }
  const amount = amountIn(cell('amount'), options)
  const direction = cell('direction')
  if (direction === '' || amount < 0) return amount
  if (inward.test(direction)) return amount
  if (outward.test(direction)) return 0 - amount
  throw new StatementError([`${quoted(direction)} is neither money in nor money out`])
}

const uuid = /^(?:[a-z]{2,8}_)?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/i

/** However the operator spells what we gave it; what it makes up itself says nothing to us. */
function referenceOf(text: string): string {
  const groups = uuid.exec(text)?.slice(1)
  return groups ? groups.join('-').toLowerCase() : ''
}

const zoned = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})$/
const written = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?))?$/
const spoken = /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})(?:[T ,]+(\d{1,2}:\d{2}(?::\d{2})?))?$/

/** PostgreSQL knows no year 0, and no operator's line is older. */
const earliest = '1900'

function pastTimeOf(text: string, options: StatementOptions): string {
  const time = timeOf(text, options)
  if (time < earliest) throw new StatementError([`${quoted(text)} is before ${earliest}`])
  if (time < options.future) return time
  throw new StatementError([`${quoted(text)} is in the future`])
}

/** ISO 8601, or day/month/year as it is written where we are; without a zone it is the operator's. */
function timeOf(text: string, { instantOf }: StatementOptions): string {
  const [, day, clock, zone] = zoned.exec(text) ?? []
  if (zone !== undefined && isDay(`${day}T${clock}`)) return checked(text, new Date(`${day}T${clock}${zone}`))
  const [, year, month, date, at = '12:00'] = written.exec(text) ?? reordered(spoken.exec(text)) ?? []
  if (year === undefined) throw new StatementError([`${quoted(text)} is no time`])
  const local = `${year}-${month}-${date}T${at.padStart(5, '0')}`
  if (!isDay(local)) throw new StatementError([`${quoted(text)} is no time`])
  return checked(text, new Date(instantOf(local)))
}

/** A day that is none (30 February) is found by being written back. */
function isDay(local: string): boolean {
  const shown = new Date(`${local}Z`)
  return !Number.isNaN(shown.getTime()) && shown.toISOString().slice(0, 10) === local.slice(0, 10)
}

function reordered(found: RegExpExecArray | null): readonly string[] | undefined {
  if (!found) return undefined
  const [whole = '', date = '', month = '', year = '', at = '12:00'] = found
  return [whole, year, month.padStart(2, '0'), date.padStart(2, '0'), at.replace(/^(\d):/, '0$1:')]
}

function checked(text: string, time: Date): string {
  if (Number.isNaN(time.getTime())) throw new StatementError([`${quoted(text)} is no time`])
  return time.toISOString()
}
