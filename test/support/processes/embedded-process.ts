import { startEmbeddedPostgres } from '../../../infra/postgres/server/embedded.ts'

/** Starts the embedded server, prints where, and stays until it is killed. */
const [directory = ''] = process.argv.slice(2)
const { url } = await startEmbeddedPostgres({ directory })
process.stdout.write(`${url}\n`)
process.on('SIGTERM', () => process.exit())
setInterval(() => undefined, 60_000)
