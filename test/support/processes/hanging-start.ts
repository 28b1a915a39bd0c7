import { connectPostgres } from '../../../infra/postgres/client/connect.ts'
import { openingTogether, type Opening } from '../../../services/composition/opening-together.ts'
import { run } from '../../../services/composition/serve.ts'

/** Like a service on an embedded server that is being migrated for hours. REFUSED: another engine refuses. */
await run((_, ending) => openingTogether({ waitSeconds: 60, ending }, starting))

async function starting({ open }: Opening): Promise<never> {
  const { pool } = await open(() => connectPostgres({ dataDirectory: process.env['DATA_DIR']! }))
  const connection = await pool.connect()
  process.stdout.write('it is ready: http://localhost:1/\n')
  const migrating = connection.query('select pg_sleep(3600)')
  const other = process.env['REFUSED'] === undefined ? migrating : Promise.reject(new Error('refused'))
  await Promise.all([migrating, other])
  throw new Error('an hour is over')
}
