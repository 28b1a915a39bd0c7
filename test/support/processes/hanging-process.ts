import { connectPostgres } from '../../../infra/postgres/client/connect.ts'
import { closeInTurn, part } from '../../../services/composition/closing.ts'
import { run } from '../../../services/composition/serve.ts'

/** Like a service on an embedded server, of which one part never stops. */
await run(
  async ({ dataDirectory }) => {
    const postgres = await connectPostgres({ dataDirectory })
    process.stdout.write('it is ready: http://localhost:1/\n')
    const forever = { close: () => new Promise(() => undefined) }
    return () => closeInTurn(part('projector', forever), part('database', postgres))
  },
  { stopMostMs: 3_000 },
)
