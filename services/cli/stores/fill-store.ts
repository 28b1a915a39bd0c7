import type { Configuration } from '../../../infra/configuration.ts'
import {
  agrees,
  CannotCopyError,
  copyHistory,
  type Copied,
  type HistorySource,
  type HistoryTarget,
} from '../../../infra/history/copy.ts'
import { CommandFailedError, exitCodes } from '../terminal/failure.ts'
import { requireMasterKey } from '../dependencies.ts'
import { print, progress, type Printing } from '../terminal/output.ts'
import { buildReadModels } from '../projecting.ts'
import { Stores } from './stores.ts'

/** What a store is filled with, and the result. */
export interface Filling {
  readonly configuration: Configuration
  readonly fill: (stores: Stores) => Promise<Copied>
  readonly textOf: (copied: Copied) => string
  /**
   * Settings of a service that would run on the filled store; undefined when its read models exist already.
   */
  readonly runsOn: Configuration | undefined
}

/**
 * Fills a store and reports whether both sides agree; what can be derived from the log is rebuilt, not
 * copied.
 */
export async function fillStore(
  { configuration, fill, textOf, runsOn }: Filling,
  options: Printing,
): Promise<void> {
  requireMasterKey(configuration)
  const stores = new Stores(configuration)
  try {
    const copied = await fill(stores)
    const agree = agrees(copied)
    print({ ...copied, agree }, options, () => textOf(copied))
    if (!agree) process.exitCode = exitCodes.found
    else if (runsOn) await build(runsOn)
  } catch (error) {
    throw error instanceof CannotCopyError ? new CommandFailedError(error.message) : error
  } finally {
    await stores.close()
  }
}

async function build(configuration: Configuration): Promise<void> {
  const { openRuntime } = await import('../../composition/dependencies.ts')
  const runtime = await openRuntime(configuration)
  await buildReadModels(runtime).finally(() => runtime.close())
}

/** Copies a history and shows progress. */
export async function copyWithProgress(
  label: string,
  source: HistorySource,
  target: HistoryTarget,
): Promise<Copied> {
  const [writing, comparing] = [progress(label), progress('comparing')]
  try {
    return await copyHistory(source, target, { onWritten: writing.show, onCompared: comparing.show })
  } finally {
    writing.end()
    comparing.end()
  }
}
