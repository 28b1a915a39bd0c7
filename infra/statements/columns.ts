import { quoted, quotedColumns } from './quoting.ts'
import { StatementError } from './statement-error.ts'

export const fields = [
  'reference',
  'amount',
  'direction',
  'credit',
  'debit',
  'fee',
  'time',
  'currency',
] as const
export type Field = (typeof fields)[number]
/** The column of each field, as the header of the file names it; empty where it has none. */
export type ColumnMap = Readonly<Partial<Record<Field, string>>>

/** How operators call them, where nobody says. */
const usual: Readonly<Record<Field, readonly string[]>> = {
  reference: ['reference', 'ref', 'external_id', 'externalid', 'client_reference', 'merchant_reference'],
  amount: ['amount', 'montant', 'net_amount'],
  direction: ['direction', 'type', 'sens', 'cr/dr'],
  credit: ['credit', 'crédit'],
  debit: ['debit', 'débit'],
  fee: ['fee', 'fees', 'frais', 'commission'],
  time: ['time', 'date', 'timestamp', 'datetime', 'transaction_date', 'date_operation'],
  currency: ['currency', 'devise', 'ccy'],
}

/**
 * Where each field is. What is imported stays, so a file without references, whose lines are told apart by
 * amounts and times, has to be named as one: usually the column is only called otherwise.
 */
export function columnsOf(header: readonly string[], map: ColumnMap): ReadonlyMap<Field, number> {
  const columns = new Map<Field, number>()
  const named = namedIn(map)
  for (const field of fields) {
    if (map[field] === '' || (field === 'amount' && isByTwoColumns(map))) continue
    const names = map[field] === undefined ? usual[field].filter((name) => !named.has(name)) : [map[field]]
    const found = placesOf(names, header)
    if (map[field] !== undefined && found.length === 0)
      throw new StatementError([`The header has no column ${quoted(map[field])}.`])
    if (found.length > 1)
      throw new StatementError([
        ambiguous(
          field,
          found.map((at) => header[at]!),
        ),
      ])
    if (found.length === 1) columns.set(field, found[0]!)
  }
  const hasAmount = columns.has('amount') || (columns.has('credit') && columns.has('debit'))
  const isLacking = (field: Field) => !columns.has(field) && !(field === 'amount' && hasAmount)
  const lacking = (['reference', 'amount', 'time'] as const).filter(isLacking)
  const missing = lacking.filter((field) => field !== 'reference' || map.reference !== '')
  if (missing.length > 0) throw new StatementError(missing.map((field) => unknown(field, header)))
  return columns
}

/** What is named for one field is of no other. */
function namedIn(map: ColumnMap): ReadonlySet<string> {
  const named = new Set<string>()
  for (const column of Object.values(map).filter((name) => name !== '')) {
    const name = plain(column)
    if (named.has(name)) throw new StatementError([`--map names ${quoted(column)} for two fields.`])
    named.add(name)
  }
  return named
}

function placesOf(names: readonly string[], header: readonly string[]): readonly number[] {
  const wanted = names.map(plain)
  return header.flatMap((name, at) => (wanted.includes(plain(name)) ? [at] : []))
}

/** Spreadsheets break long names. */
export function onOneLine(name: string): string {
  return name.trim().replaceAll(/\s+/g, ' ')
}

function plain(name: string): string {
  return onOneLine(name).toLowerCase()
}

/** Columns of which nothing is read: most tell of something else, and one may be misspelt. */
export function unreadAmong(
  header: readonly string[],
  columns: ReadonlyMap<Field, number>,
): readonly string[] {
  const read = new Set(columns.values())
  return header.filter((name, at) => !read.has(at) && name.trim() !== '')
}

function unknown(field: Field, header: readonly string[]): string {
  const without = field === 'reference' ? `, or --map ${field}= if it has none` : ''
  return (
    `No column is known as ${field} among ${quotedColumns(header)}, such as ${usual[field].join(', ')}: ` +
    `say --map ${field}=…${without}.`
  )
}

/** Whoever names them does not mean an amount that is there besides. */
function isByTwoColumns({ amount, credit, debit }: ColumnMap): boolean {
  return amount === undefined && credit !== undefined && debit !== undefined
}

/** A guess would reconcile another column, and say nothing of it. */
function ambiguous(field: Field, header: readonly string[]): string {
  const names = header.map((name) => name.trim())
  const named = quotedColumns(names, ' and ')
  const isOneName = new Set(names.map(plain)).size === 1
  const remedy = isOneName ? 'give them names of their own' : `say --map ${field}=…`
  return `Several columns could be the ${field}: ${named}. Please ${remedy}.`
}
