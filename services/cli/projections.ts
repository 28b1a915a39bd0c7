import { setTimeout as pause } from 'node:timers/promises'
import type { Command } from 'commander'
import { inReadTransaction } from '../../infra/postgres/client/read-transaction.ts'
import { publications, requestNewGeneration } from '../../infra/postgres/read-models/publication.ts'
import { builtUpTo, publishedTables } from '../../infra/postgres/read-models/published-tables.ts'
import type { ReadModel } from '../../packages/kernel/projection.ts'
import { readModels } from '../../projections/index.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { commandOf } from './terminal/arguments.ts'
import { CommandFailedError } from './terminal/failure.ts'
import { withRuntime } from './dependencies.ts'
import { print, progress, table, type Printing } from './terminal/output.ts'
import { whileProjecting } from './projecting.ts'

const lookEveryMs = 100

export function addProjections(program: Command): void {
  const projections = program.command('projections').description('read models, which are made from the log')
  commandOf(projections, 'status', 'how far each read model has come').action(status)
  commandOf(
    projections,
    'rebuild [name]',
    'build a read model anew beside the one that is shown, then show it',
  )
    .option('--all', 'every read model')
    .action(rebuild)
}

async function status(options: Printing): Promise<void> {
  const { head, models } = await withRuntime(async ({ postgres: { pool }, dependencies: { store } }) => {
    const models = await inReadTransaction(pool, (moment) => publishedTables(moment, readModels))
    return { head: await store.head(), models }
  })
  const shown = models.map(({ model, version, generation, wanted, position, updatedAt, parked }) => ({
    name: model.name,
    version: model.version,
    shown_version: version,
    generation,
    position,
    behind: head - position,
    state:
      version !== model.version || wanted > generation ? 'rebuilding' : parked.size > 0 ? 'parked' : 'live',
    parked: parked.size,
    updated_at: updatedAt,
  }))
  print({ head, models: shown }, options, () => `${table(shown, '')}\n\nThe log ends at position ${head}.`)
}

async function rebuild(name: string | undefined, options: Printing & { readonly all?: true }): Promise<void> {
  const models = chosen(name, options.all)
  await withRuntime((runtime) => rebuildModels(runtime, models))
  const rebuilt = models.map((model) => model.name)
  print({ rebuilt }, options, () => `Rebuilt and shown: ${rebuilt.join(', ')}.`)
}

/** Returns once they are shown. */
export async function rebuildModels(runtime: Runtime, models: readonly ReadModel[]): Promise<void> {
  const wanted = await requestRebuild(runtime, models)
  await whileProjecting(runtime, () => untilShown(runtime, wanted))
}

function chosen(name: string | undefined, all: true | undefined): readonly ReadModel[] {
  if ((name === undefined) === (all === undefined))
    throw new CommandFailedError('Name one read model, or take --all.')
  const models = all ? readModels : readModels.filter((model) => model.name === name)
  if (models.length > 0) return models
  throw new CommandFailedError(
    `There is no read model "${name}": there are ${readModels.map((model) => model.name).join(', ')}.`,
  )
}

interface Wanted {
  readonly model: ReadModel
  readonly generation: number
}

async function requestRebuild(
  { postgres: { pool } }: Runtime,
  models: readonly ReadModel[],
): Promise<readonly Wanted[]> {
  for (const model of models) await requestNewGeneration(pool, model)
  const shown = await publications(pool)
  return models.map((model) => ({ model, generation: shown.get(model.name)!.wanted }))
}

/** The projector, here or in the running service, builds one after the other. */
async function untilShown(
  { postgres: { pool }, dependencies: { store } }: Runtime,
  wanted: readonly Wanted[],
): Promise<void> {
  const head = await store.head()
  const bar = progress('rebuilding')
  try {
    for (;;) {
      const shown = await publications(pool)
      const open = wanted.filter(({ model, generation }) => shown.get(model.name)!.generation < generation)
      if (open.length === 0) return
      const built = await Promise.all(open.map(({ model, generation }) => builtUpTo(pool, model, generation)))
      const done =
        (wanted.length - open.length) * head +
        built.reduce((sum, position) => sum + Math.min(position, head), 0)
      bar.show(done, wanted.length * head)
      await pause(lookEveryMs)
    }
  } finally {
    bar.end()
  }
}
