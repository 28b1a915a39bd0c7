import type { Command } from 'commander'
import { readConfiguration, type Configuration } from '../../../infra/configuration.ts'
import { agrees, type Copied } from '../../../infra/history/copy.ts'
import { historyOf } from '../../../infra/history/store-pages.ts'
import { readBookkeeping, writeBookkeeping } from '../../../infra/postgres/history/bookkeeping.ts'
import type { Postgres } from '../../../infra/postgres/client/connect.ts'
import { keptHistory } from '../../../infra/postgres/history/history.ts'
import { withoutLeaders } from '../../../infra/postgres/consumers/leader.ts'
import { inReadTransaction } from '../../../infra/postgres/client/read-transaction.ts'
import { commandOf } from '../terminal/arguments.ts'
import { CommandFailedError } from '../terminal/failure.ts'
import { copyWithProgress, fillStore } from './fill-store.ts'
import { comparisonText } from './history-report.ts'
import { counted, type Printing } from '../terminal/output.ts'
import { databaseName, databaseOf, isEventStoreDb, storeName, type StoreName, type Stores } from './stores.ts'

interface CopyOptions extends Printing {
  readonly from: StoreName
  readonly to: StoreName
  readonly fromPostgres?: StoreName
  readonly toPostgres?: StoreName
}

export function addCopy(events: Command): void {
  commandOf(events, 'copy', 'copy a whole history into another store, while no service runs')
    .requiredOption('--from <store>', 'embedded (of DATA_DIR), postgres://… or esdb://…', storeName)
    .requiredOption('--to <store>', 'the same; empty, or left by an earlier try', storeName)
    .option(
      '--from-postgres <database>',
      'the database beside an esdb:// source; of the settings',
      databaseName,
    )
    .option(
      '--to-postgres <database>',
      'the database beside an esdb:// target; that of the source',
      databaseName,
    )
    .action(copy)
}

async function copy(options: CopyOptions): Promise<void> {
  const configuration = readConfiguration()
  const move = moveOf(options, configuration)
  const filling = {
    configuration,
    fill: (stores: Stores) => copyAlone(stores, move),
    textOf: (copied: Copied) =>
      `${counted(copied.written, 'event')} written now.\n\n${comparisonText(copied)}`,
    runsOn: move.hasOwnBooks ? settingsAt(configuration, move) : undefined,
  }
  await fillStore(filling, options)
}

/** From and to: two logs, and the databases beside them. */
interface Move {
  readonly from: StoreName
  readonly to: StoreName
  readonly fromBooks: StoreName
  readonly toBooks: StoreName
  /** The target has a database of its own, so bookkeeping has to move too. */
  readonly hasOwnBooks: boolean
}

function moveOf({ from, to, fromPostgres, toPostgres }: CopyOptions, configuration: Configuration): Move {
  const fromBooks = isEventStoreDb(from) ? (fromPostgres ?? databaseOf(configuration)) : from
  const toBooks = isEventStoreDb(to) ? (toPostgres ?? fromBooks) : to
  if (from === to && fromBooks === toBooks)
    throw new CommandFailedError('--from and --to name the same store.')
  return { from, to, fromBooks, toBooks, hasOwnBooks: fromBooks !== toBooks }
}

const running =
  'A service runs on this history: stop every service first, for what it does meanwhile would be lost.'

async function copyAlone(stores: Stores, move: Move): Promise<Copied> {
  const fromBooks = await stores.existing(move.fromBooks)
  const toBooks = await stores.database(move.toBooks)
  const { hasRun } = await keptHistory(toBooks.pool)
  if (move.hasOwnBooks && hasRun) {
    throw new CommandFailedError('A service has run on the target already: copy into an empty database.')
  }
  const done = await withoutLeaders(fromBooks.pool, () => copyInto(stores, move, { fromBooks, toBooks }))
  if (!done) throw new CommandFailedError(running)
  return done.result
}

interface Books {
  readonly fromBooks: Postgres
  readonly toBooks: Postgres
}

/** Bookkeeping goes last: without it a target is incomplete, and no service starts on it. */
async function copyInto(stores: Stores, move: Move, { fromBooks, toBooks }: Books): Promise<Copied> {
  const { store, id } = await stores.source(move.from, fromBooks)
  const target = await stores.target(move.to, toBooks)
  const copied = await copyWithProgress('copying  ', { id, ...historyOf(store) }, target)
  if (!agrees(copied)) return copied
  if (move.hasOwnBooks) {
    await inReadTransaction(fromBooks.pool, (moment) =>
      writeBookkeeping(toBooks.pool, readBookkeeping(moment), { id }),
    )
  }
  await target.complete(id)
  return copied
}

/** The settings of a service on the target. */
function settingsAt(configuration: Configuration, { to, toBooks }: Move): Configuration {
  return {
    ...configuration,
    postgresUrl: toBooks === 'embedded' ? undefined : toBooks,
    eventStoreUrl: isEventStoreDb(to) ? to : undefined,
  }
}
