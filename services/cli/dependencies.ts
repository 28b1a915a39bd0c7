import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfiguration, type Configuration } from '../../infra/configuration.ts'
import type { Credentials } from '../composition/first-merchant.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { CommandFailedError } from './failure.ts'

/**
 * Opens what the service works with, from the same settings. The embedded server is shared with a running
 * service, or started for as long as this takes.
 */
export async function withRuntime<Result>(work: (runtime: Runtime) => Promise<Result>): Promise<Result> {
  // Whoever sits before a terminal is told at once what is not there.
  const configuration = { ...readConfiguration(), startWaitSeconds: 0 }
  requireDatabase(configuration)
  requireMasterKey(configuration)
  // Every adapter comes with its libraries, which take longer to load than a mistyped command is worth.
  const { openRuntime } = await import('../composition/dependencies.ts')
  const runtime = await openRuntime(configuration)
  try {
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}

const hint = 'start the service once with `make run`, or set DATA_DIR to its data directory'

/** Opening would make what is missing: a new database where nobody wants it. */
function requireDatabase({ dataDirectory, postgresUrl }: Configuration): void {
  if (postgresUrl === undefined) requireEmbedded(dataDirectory, `${hint}, or POSTGRES_URL to its database`)
}

export function requireEmbedded(dataDirectory: string, whatToDo = hint): void {
  if (existsSync(join(dataDirectory, 'postgres', 'PG_VERSION'))) return
  throw new CommandFailedError(`There is no database in ${dataDirectory}: ${whatToDo}.`)
}

/** The same for the key: secrets that another one has sealed would be lost without a word. */
export function requireMasterKey({ dataDirectory, masterKey }: Configuration): void {
  if (masterKey !== undefined || existsSync(join(dataDirectory, 'master.key'))) return
  throw new CommandFailedError(
    `There is no master.key in ${dataDirectory}: ${hint}, or MASTER_KEY to its key.`,
  )
}

/** What the first start of the service has written down. */
export function readCredentials({ dataDirectory }: Configuration): Credentials {
  const file = join(dataDirectory, 'credentials.json')
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Credentials
  throw new CommandFailedError(`There is no ${file}: ${hint}.`)
}
