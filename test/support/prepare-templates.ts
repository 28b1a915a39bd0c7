import { connectPostgres, type Postgres } from '../../infra/postgres/client/connect.ts'
import { financeViews } from '../../infra/postgres/finance/finance.ts'
import { migrate } from '../../infra/postgres/migrate.ts'
import { publishMissing } from '../../infra/postgres/read-models/publication.ts'
import { readModels } from '../../projections/index.ts'
import { onServer, templates } from './postgres-template.ts'

/** Does once what each test file would otherwise do for itself. */
export async function prepareTemplates(serverUrl: string): Promise<void> {
  const { migrated, started } = templates
  const postgres = await connectPostgres({ url: serverUrl, dataDirectory: '' })
  await postgres.pool.query(`create database ${migrated}`)
  await onDatabase(serverUrl, migrated, migrate)
  await postgres.pool.query(`create database ${started} template ${migrated}`)
  await onDatabase(serverUrl, started, ({ pool }) => publishMissing(pool, readModels, financeViews))
  await postgres.close()
}

async function onDatabase(
  serverUrl: string,
  name: string,
  work: (database: Postgres) => Promise<unknown>,
): Promise<void> {
  const database = await connectPostgres({ url: onServer(serverUrl, name), dataDirectory: '' })
  await work(database)
  await database.close()
}
