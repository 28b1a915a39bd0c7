import { InvalidArgumentError, type Command } from 'commander'
import {
  askReadersForPassword,
  grantReader,
  psqlLine,
  revokeReader,
  RoleTakenError,
} from '../../infra/postgres/finance/roles.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { commandOf } from './terminal/arguments.ts'
import { withRuntime } from './dependencies.ts'
import { CommandFailedError } from './terminal/failure.ts'
import { print, type Printing } from './terminal/output.ts'

export function addFinance(program: Command): void {
  const finance = program.command('finance').description('who reads the views of docs/finance.md')
  commandOf(finance, 'grant', 'make a login that reads the views and nothing else, or give it a new password')
    .argument('<name>', 'name of the login', roleName)
    .action((name: string, options: Printing) => withRuntime((runtime) => grant(runtime, name, options)))
  commandOf(finance, 'revoke', 'end a login and its sessions')
    .argument('<name>', 'name of the login', roleName)
    .action((name: string, options: Printing) => withRuntime((runtime) => revoke(runtime, name, options)))
  commandOf(finance, 'connect', 'print the line by which psql reaches the views')
    .argument('<name>', 'name of the login', roleName)
    .action((name: string, options: Printing) => withRuntime((runtime) => connect(runtime, name, options)))
}

function roleName(text: string): string {
  if (/^[a-z][a-z0-9_]{0,62}$/.test(text) && !/^(pg_|ikw)/.test(text)) return text
  throw new InvalidArgumentError(
    'It takes 1 to 63 of a-z, 0-9 and _, beginning with a letter, not pg_ or ikw.',
  )
}

async function grant({ postgres, configuration }: Runtime, name: string, options: Printing): Promise<void> {
  const { dataDirectory, postgresUrl } = configuration
  if (postgresUrl === undefined) await askReadersForPassword(postgres.pool, dataDirectory)
  const granted = await grantReader(postgres.pool, name).catch(asFailure)
  const line = psqlLine(postgres.url, name)
  const rest =
    granted.leftToDo && `\n\nAn administrator still has to run in this database:\n\n${granted.leftToDo}`
  print({ ...granted, connect: line }, options, () => {
    return `${name} reads the schema finance. The password is shown this once: ${granted.password}\n\n${line}${rest}`
  })
}

async function revoke({ postgres: { pool } }: Runtime, name: string, options: Printing): Promise<void> {
  if (!(await revokeReader(pool, name))) throw new CommandFailedError(`There is no reader ${name}.`)
  print({ name, revoked: true }, options, () => `${name} is gone.`)
}

async function connect({ postgres, configuration }: Runtime, name: string, options: Printing): Promise<void> {
  const line = psqlLine(postgres.url, name)
  const isEmbedded = configuration.postgresUrl === undefined
  const hint = isEmbedded
    ? '\nThis works on the machine of the service while it runs, for users who may reach that directory.'
    : ''
  print({ connect: line }, options, () => line + hint)
}

function asFailure(error: unknown): never {
  if (error instanceof RoleTakenError) throw new CommandFailedError(`${error.message}: take another name.`)
  if ((error as { code?: string }).code === '42501')
    throw new CommandFailedError(
      'The service may not make roles: set POSTGRES_URL to a user who may, this once.',
    )
  throw error
}
