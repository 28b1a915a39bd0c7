import type { Command } from 'commander'
import { readConfiguration, type Configuration } from '../../../infra/configuration.ts'
import { readBackup, type SavedHistory } from '../../../infra/backup/read.ts'
import { isFree, writeBackup } from '../../../infra/backup/write.ts'
import { agrees, type Copied, type HistoryTarget } from '../../../infra/history/copy.ts'
import { writeBookkeeping } from '../../../infra/postgres/history/bookkeeping.ts'
import type { Postgres } from '../../../infra/postgres/client/connect.ts'
import { noteUpkeep } from '../../../infra/postgres/upkeep.ts'
import { keptHistory } from '../../../infra/postgres/history/history.ts'
import { withoutLeaders } from '../../../infra/postgres/consumers/leader.ts'
import { commandOf } from '../terminal/arguments.ts'
import { CommandFailedError } from '../terminal/failure.ts'
import { copyWithProgress, fillStore } from './fill-store.ts'
import { comparisonText, digestText } from './history-report.ts'
import { withRuntime } from '../dependencies.ts'
import { print, progress, type Printing } from '../terminal/output.ts'
import { databaseOf, type Stores } from './stores.ts'

export function addBackup(program: Command): void {
  commandOf(
    program,
    'backup <directory>',
    'write the log and all that cannot be made from it into files',
  ).action(backup)
  commandOf(program, 'restore <directory>', 'fill an empty store of the settings from a backup').action(
    restore,
  )
}

type Pool = Postgres['pool']

const beside =
  'Keep master.key and credentials.json of the data directory too, at another place: they are not in it.'

async function backup(directory: string, options: Printing): Promise<void> {
  const taken = `${directory} is not empty: a backup gets a directory of its own.`
  if (!isFree(directory)) throw new CommandFailedError(taken)
  const bar = progress('backing up')
  const manifest = await withRuntime(
    async ({ dependencies: { clock }, asStored: store, postgres: { pool } }) => {
      const now = clock()
      const written = await writeBackup({ directory, pool, store, now, onProgress: bar.show })
      await noteUpkeep(pool, { task: 'backup', position: written.position, at: now })
      return written
    },
  )
    .catch((error: unknown) => {
      // Another one has begun there since.
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new CommandFailedError(taken)
      throw error
    })
    .finally(() => bar.end())
  print(manifest, options, () => `${digestText(manifest)}\n\nIt is in ${directory}. ${beside}`)
}

async function restore(directory: string, options: Printing): Promise<void> {
  const configuration = readConfiguration()
  const saved = readBackup(directory)
  if (!saved)
    throw new CommandFailedError(`There is no whole backup in ${directory}: its manifest.json is missing.`)
  const filling = {
    configuration,
    fill: (stores: Stores) => restoreAlone(stores, saved, configuration),
    textOf: comparisonText,
    runsOn: configuration,
  }
  await fillStore(filling, options)
}

async function restoreAlone(
  stores: Stores,
  saved: SavedHistory,
  configuration: Configuration,
): Promise<Copied> {
  const name = databaseOf(configuration)
  const books = await stores.database(name)
  const { hasRun } = await keptHistory(books.pool)
  if (hasRun) throw new CommandFailedError(notEmpty)
  const done = await withoutLeaders(books.pool, async () => {
    const target = await stores.target(configuration.eventStoreUrl ?? name, books)
    return fill(target, saved, books.pool)
  })
  if (!done) throw new CommandFailedError(notEmpty)
  return done.result
}

const notEmpty = 'A service has run on this database: restore into an empty one.'

/** The world has gone on since the backup: everything in the log may have been started outside. */
async function fill(target: HistoryTarget, saved: SavedHistory, pool: Pool) {
  const { manifest, source, bookkeeping } = saved
  if (!(await saved.isBookkeepingKept()))
    throw new CommandFailedError(
      'The backup is damaged: its bookkeeping.ndjson.gz is not what its manifest.json tells of.',
    )
  const restored = await copyWithProgress('restoring', source, target)
  if (restored.source.sha256 !== manifest.sha256) {
    throw new CommandFailedError(
      'The backup is damaged: its events are not those that its manifest.json tells of.',
    )
  }
  if (!agrees(restored)) return restored
  const { id } = source
  await writeBookkeeping(pool, bookkeeping(), { id, mayHaveRunThrough: manifest.position })
  await target.complete(id)
  return restored
}
