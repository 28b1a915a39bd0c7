import { createServer } from 'node:http'
import { connectPostgres } from '../../infra/postgres/client/connect.ts'
import { migrate } from '../../infra/postgres/migrate.ts'
import { SandboxOperations } from '../../infra/postgres/sandbox-operations.ts'
import { serveBook } from '../../infra/rails/sandbox-server.ts'
import { Health } from '../composition/observing/health.ts'
import { openLog } from '../composition/observing/log.ts'
import { healthOr, listen } from '../composition/listen.ts'
import { tellWaiting } from '../composition/alone.ts'
import { closeInTurn, orClose, part } from '../composition/closing.ts'
import { run } from '../composition/serve.ts'

/** Longer than its clients keep a connection: none of their calls hits one that is just being closed. */
const keepAliveTimeoutMs = 65_000

/** The simulated operators as a separate process, with a database of their own; SANDBOX_URL names it. */
await run(async (configuration, ending) => {
  const { postgresUrl: url, dataDirectory, port } = configuration
  const log = await openLog(configuration)
  const postgres = await connectPostgres({ url, dataDirectory })
  return orClose(postgres, async () => {
    await migrate(postgres, { tell: tellWaiting, ending })
    const health = new Health()
    health.depend({ name: 'postgres', ping: () => postgres.pool.query('select 1') })
    const book = serveBook(new SandboxOperations(postgres.pool), (error) => {
      log.warn({ error }, 'the book of the simulated operators cannot be written')
    })
    const server = createServer({ keepAliveTimeout: keepAliveTimeoutMs }, healthOr(health, book))
    const listening = await listen(server, port, 'PORT')
    process.stdout.write(`sandbox is ready: http://localhost:${listening.port}/readyz\n`)
    return async () => {
      health.stop()
      await closeInTurn(part('sandbox', listening), part('database', postgres))
    }
  })
})
