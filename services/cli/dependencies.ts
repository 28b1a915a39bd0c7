import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readConfiguration, type Configuration } from '../../infra/configuration.ts'
import { isComplete, keptCredentials, type Credentials } from '../composition/credentials.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { CommandFailedError } from './terminal/failure.ts'

/**
 * Opens what the service works with, from the same settings. The embedded server is shared with a running
 * service, or started for the duration of the command.
 */
export async function withRuntime<Result>(work: (runtime: Runtime) => Promise<Result>): Promise<Result> {
  // A person at a terminal sees at once what is missing.
  const configuration = { ...readConfiguration(), startWaitSeconds: 0 }
  requireDatabase(configuration)
  requireMasterKey(configuration)
  // Every adapter loads its libraries, which takes longer than a mistyped command is worth.
  const { openRuntime } = await import('../composition/dependencies.ts')
  const runtime = await openRuntime(configuration)
  try {
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}

const hint = 'start the service once with `make run`, or set DATA_DIR to its data directory'

/** Opening would create what is missing: a new database where none is wanted. */
function requireDatabase({ dataDirectory, postgresUrl }: Configuration): void {
  if (postgresUrl === undefined) requireEmbedded(dataDirectory, `${hint}, or POSTGRES_URL to its database`)
}

export function requireEmbedded(dataDirectory: string, whatToDo = hint): void {
  if (existsSync(join(dataDirectory, 'postgres', 'PG_VERSION'))) return
  throw new CommandFailedError(`There is no database in ${dataDirectory}: ${whatToDo}.`)
}

/** The same for the master key: secrets sealed with another one would be lost without a word. */
export function requireMasterKey({ dataDirectory, masterKey }: Configuration): void {
  if (masterKey !== undefined || existsSync(join(dataDirectory, 'master.key'))) return
  throw new CommandFailedError(
    `There is no master.key in ${dataDirectory}: ${hint}, or MASTER_KEY to its key.`,
  )
}

/** What the first start of the service has written. */
export function readCredentials({ dataDirectory }: Configuration): Credentials {
  const file = join(dataDirectory, 'credentials.json')
  const kept = keptCredentials(file)
  if (kept && isComplete(kept)) return kept
  throw new CommandFailedError(`${kept ? 'Not all keys are in' : 'There is no'} ${file}: ${hint}.`)
}
