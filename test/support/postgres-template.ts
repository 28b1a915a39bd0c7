import { connectPostgres } from '../../infra/postgres/client/connect.ts'
import { migrate } from '../../infra/postgres/migrate.ts'

/** A migrated database that the runner of the suite has prepared, of which others are copies. */
export const template = 'ikw_migrated'

/** Does once what each test file would otherwise do for itself. */
export async function prepareTemplate(serverUrl: string): Promise<void> {
  const postgres = await connectPostgres({ url: serverUrl, dataDirectory: '' })
  await postgres.pool.query(`create database ${template}`)
  await postgres.close()
  const database = await connectPostgres({ url: onServer(serverUrl, template), dataDirectory: '' })
  await migrate(database)
  await database.close()
}

export function onServer(serverUrl: string, database: string): string {
  const url = new URL(serverUrl)
  url.pathname = database
  return url.href
}
