import type { Command } from 'commander'
import { readConfiguration, type Configuration } from '../../infra/configuration.ts'
import { agrees, CannotCopy, copyHistory, type Copied } from '../../infra/history/copy.ts'
import { historyOf } from '../../infra/history/store-pages.ts'
import { readBookkeeping, writeBookkeeping } from '../../infra/postgres/bookkeeping.ts'
import type { Postgres } from '../../infra/postgres/connect.ts'
import { keptHistory } from '../../infra/postgres/history.ts'
import { withoutLeaders } from '../../infra/postgres/leader.ts'
import { atOneMoment } from '../../infra/postgres/moment.ts'
import { commandOf } from './arguments.ts'
import { CannotDo, exitCodes } from './failure.ts'
import { comparisonText } from './history-report.ts'
import { requireMasterKey } from './house.ts'
import { counted, print, progress, type Printing } from './output.ts'
import { buildReadModels } from './projecting.ts'
import { databaseName, databaseOf, isEventStoreDb, storeName, Stores, type StoreName } from './stores.ts'

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
  requireMasterKey(configuration)
  const stores = new Stores(configuration)
  const move = moveOf(options, configuration)
  try {
    const copied = await copyAlone(stores, move)
    const report = { ...copied, agree: agrees(copied) }
    print(
      report,
      options,
      () => `${counted(copied.written, 'event')} written now.\n\n${comparisonText(copied)}`,
    )
    if (!report.agree) process.exitCode = exitCodes.found
    else if (move.hasOwnBooks) await buildAt(configuration, move)
  } catch (error) {
    throw error instanceof CannotCopy ? new CannotDo(error.message) : error
  } finally {
    await stores.close()
  }
}

/** From where to where: two logs, and the databases beside them. */
interface Move {
  readonly from: StoreName
  readonly to: StoreName
  readonly fromBooks: StoreName
  readonly toBooks: StoreName
  /** The target has another database than the source, so that bookkeeping has to move too. */
  readonly hasOwnBooks: boolean
}

function moveOf({ from, to, fromPostgres, toPostgres }: CopyOptions, configuration: Configuration): Move {
  const fromBooks = isEventStoreDb(from) ? (fromPostgres ?? databaseOf(configuration)) : from
  const toBooks = isEventStoreDb(to) ? (toPostgres ?? fromBooks) : to
  if (from === to && fromBooks === toBooks) throw new CannotDo('--from and --to name the same store.')
  return { from, to, fromBooks, toBooks, hasOwnBooks: fromBooks !== toBooks }
}

const running =
  'A service runs on this history: stop every service first, for what it does meanwhile would be lost.'

async function copyAlone(stores: Stores, move: Move): Promise<Copied> {
  const fromBooks = await stores.existing(move.fromBooks)
  const toBooks = await stores.database(move.toBooks)
  const { hasRun } = await keptHistory(toBooks.pool)
  if (move.hasOwnBooks && hasRun) {
    throw new CannotDo('A service has run on the target already: copy into an empty database.')
  }
  const done = await withoutLeaders(fromBooks.pool, () => copyInto(stores, move, { fromBooks, toBooks }))
  if (!done) throw new CannotDo(running)
  return done.result
}

interface Books {
  readonly fromBooks: Postgres
  readonly toBooks: Postgres
}

/** Bookkeeping goes last: a target without it is not complete, and no service starts on it. */
async function copyInto(stores: Stores, move: Move, { fromBooks, toBooks }: Books): Promise<Copied> {
  const { store, id } = await stores.source(move.from, fromBooks)
  const target = await stores.target(move.to, toBooks)
  const [writing, comparing] = [progress('copying  '), progress('comparing')]
  const copied = await copyHistory({ id, ...historyOf(store) }, target, {
    onWritten: writing.show,
    onCompared: comparing.show,
  }).finally(() => [writing, comparing].forEach((bar) => bar.end()))
  if (!agrees(copied)) return copied
  if (move.hasOwnBooks) {
    await atOneMoment(fromBooks.pool, (moment) =>
      writeBookkeeping(toBooks.pool, readBookkeeping(moment), { id }),
    )
  }
  await target.complete(id)
  return copied
}

/** What can be made from the log is not copied. */
async function buildAt(configuration: Configuration, { to, toBooks }: Move): Promise<void> {
  const { openHouse } = await import('../composition/house.ts')
  const opened = await openHouse({
    ...configuration,
    postgresUrl: toBooks === 'embedded' ? undefined : toBooks,
    eventStoreUrl: isEventStoreDb(to) ? to : undefined,
  })
  await buildReadModels(opened).finally(() => opened.close())
}
