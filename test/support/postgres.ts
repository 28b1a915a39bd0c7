import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import file, { type Test } from 'tap'
import { connectPostgres, type Postgres } from '../../infra/postgres/client/connect.ts'
import { migrate } from '../../infra/postgres/migrate.ts'
import { onServer, templates, type Template } from './postgres-template.ts'

/** `pg_locks` lists those of all databases of the server, and other tests have theirs on the same one. */
export const ownLocks =
  '(select * from pg_locks where database = (select oid from pg_database where datname = current_database()))'

export interface TestDatabase {
  readonly url: string
  readonly pool: pg.Pool
  readonly reads: Postgres['reads']
}

let server: Promise<Server> | undefined

interface Server {
  readonly postgres: Postgres
  readonly hasTemplates: boolean
}

/**
 * A fresh database, migrated or also with the read models of a service, dropped when the test ends: on the
 * server in `IKW_TEST_POSTGRES`, or on one started once for this test file.
 */
export async function testDatabase(t: Test, from: Template = 'migrated'): Promise<TestDatabase> {
  const { postgres, hasTemplates } = await (server ??= startServer())
  const { pool, url } = postgres
  const name = `ikw_${randomUUID().replaceAll('-', '')}`
  const copied = hasTemplates ? `template ${templates[from]} strategy file_copy` : ''
  await pool.query(`create database ${name} ${copied}`)
  t.teardown(() => pool.query(`drop database ${name} with (force)`))
  const database = await connectPostgres({ url: onServer(url, name), dataDirectory: '' })
  t.teardown(() => database.close())
  if (!hasTemplates) await migrate(database)
  // Otherwise all copies would say that they belong to one history.
  else await database.pool.query('update history set id = gen_random_uuid()')
  return { url: database.url, pool: database.pool, reads: database.reads }
}

/** A directory that is removed when the test ends. */
export function temporaryDirectory(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'ikw-test-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

async function startServer(): Promise<Server> {
  const url = process.env['IKW_TEST_POSTGRES']
  const postgres = await connectPostgres({ url, dataDirectory: url ? '' : temporaryDirectory(file) })
  file.teardown(() => postgres.close())
  const { rowCount } = await postgres.pool.query('select from pg_database where datname = $1', [
    templates.started,
  ])
  return { postgres, hasTemplates: rowCount === 1 }
}
