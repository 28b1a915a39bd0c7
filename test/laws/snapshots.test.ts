import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { publishMissing } from '../../infra/postgres/read-models/publication.ts'
import { openapi } from '../../packages/contract/openapi/openapi.ts'
import { idPrefixes, publicSources } from '../../packages/domain/index.ts'
import { readModels } from '../../projections/index.ts'
import { routes } from '../../services/families.ts'
import { testDatabase } from '../support/postgres.ts'
import { root } from '../support/root.ts'
import { schemaText } from '../support/schemas/schema-text.ts'

// What merchants and databases are promised, in files whose difference a review sees.
// `make contract` rewrites them.

const baseUrl = 'https://payments.example.com'

function isAsCommitted(t: Test, file: string, text: string): void {
  const path = join(root, file)
  if (process.env['REWRITE'] === '1') {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const committed = existsSync(path) ? readFileSync(path, 'utf8') : ''
  t.ok(committed === text, `${file} is as it was committed; when the change is meant: make contract`)
}

t.test('the API is described as it was committed', async (t) => {
  const document = openapi(routes, { baseUrl, idPrefixes, publicSources })
  isAsCommitted(t, 'docs/contract/openapi.json', `${JSON.stringify(document, undefined, 2)}\n`)
})

t.test('the tables and views are as they were committed', async (t) => {
  const { pool } = await testDatabase(t)
  await publishMissing(pool, readModels, '')
  isAsCommitted(t, 'docs/contract/schema.sql.txt', await schemaText(pool))
})
