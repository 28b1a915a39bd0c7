import { createWriteStream } from 'node:fs'
import { Readable, Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { stringify } from 'csv-stringify'
import { exportedColumns, exportedPostings, type Period } from '../../../infra/postgres/finance/export.ts'
import { inReadTransaction, type ReadTransaction } from '../../../infra/postgres/client/read-transaction.ts'
import { csvOptions } from '../../../infra/exports/csv.ts'
import { time, word } from '../terminal/arguments.ts'
import { CommandFailedError } from '../terminal/failure.ts'
import { addMonthExports } from './export-month.ts'
import { withRuntime } from '../dependencies.ts'
import { upToDate, whileProjecting } from '../projecting.ts'
import { writeWhole } from '../../../infra/os/whole-file.ts'

const formats = ['csv', 'json'] as const

interface JournalOptions {
  readonly from: Date
  readonly to: Date
  readonly knownAt?: Date
  readonly format: (typeof formats)[number]
  readonly output?: string
}

export function addExport(program: Command): void {
  const exports = program.command('export').description('files for finance')
  addMonthExports(exports)
  exports
    .command('journal')
    .description('the journal of a period, one line per posting: finance.postings of docs/finance.md')
    .requiredOption('--from <time>', 'first day or time', time)
    .requiredOption('--to <time>', 'day or time that is not in it any more', time)
    .option('--known-at <time>', 'only what was known by then', time)
    .option('--format <format>', 'csv or json (an array)', word(formats), 'csv')
    .option('--json', 'the same as --format json')
    .option('--output <file>', 'write to a file instead of standard output')
    .action(({ json, ...options }: JournalOptions & { json?: true }) =>
      exportJournal(json ? { ...options, format: 'json' } : options),
    )
}

async function exportJournal({ format, output, ...period }: JournalOptions): Promise<void> {
  // Empty files look like a month without movements.
  if (period.to <= period.from) throw new CommandFailedError('--to is not after --from.')
  await withRuntime(async (runtime) => {
    const through = await whileProjecting(runtime, () => upToDate(runtime))
    let count = 0
    await inReadTransaction(runtime.postgres.pool, async (moment) => {
      const rows = Readable.from(counted(moment, period, () => count++))
      const write = (file?: string) =>
        pipeline(rows, format === 'csv' ? toCsv() : toJsonArray(), destination(file))
      await (output ? writeWhole(output, write) : write())
    })
    process.stderr.write(
      `${count} postings, complete up to position ${through}${output ? `, in ${output}` : ''}\n`,
    )
  })
}

async function* counted(
  moment: ReadTransaction,
  period: Period,
  onRow: () => void,
): AsyncGenerator<object, void> {
  for await (const rows of exportedPostings(moment, period)) {
    for (const row of rows) {
      onRow()
      yield row
    }
  }
}

function toCsv(): Transform {
  return stringify({ ...csvOptions, header: true, columns: [...exportedColumns] })
}

/** One row per line, so that a file of any size can be read line by line. */
function toJsonArray(): Transform {
  let separator = '[\n'
  return new Transform({
    writableObjectMode: true,
    transform(row: object, _encoding, done) {
      done(null, separator + JSON.stringify(row))
      separator = ',\n'
    },
    flush(done) {
      done(null, separator === '[\n' ? '[]\n' : '\n]\n')
    },
  })
}

/** Standard output stays open for what follows. */
function destination(output: string | undefined): Writable {
  if (output !== undefined) return createWriteStream(output, { mode: 0o600 })
  return new Writable({ write: (chunk: Buffer, _encoding, done) => void process.stdout.write(chunk, done) })
}
