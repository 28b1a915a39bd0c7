import { readConfiguration } from '../../infra/configuration.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import type { Ending } from '../support/processes/ending.ts'
import { eventually } from '../support/eventually.ts'
import { claimsLeftHeld, People, type Client } from '../support/identities/people.ts'
import type { Answer, CallOptions } from '../support/service.ts'
import { ServiceApart, type ServiceName } from '../support/processes/service-apart.ts'
import { openPostgres, scratch } from './engines.ts'

export interface Lived {
  readonly tally: Readonly<Record<string, number>>
  /** What is not as people were told, one sentence each. */
  readonly complaints: readonly string[]
}

const atOnce = 6
/** People who have got through everything between two faults. */
const between = 8
/** An address is held so long, and a timer looks after it. */
const heldMs = 40_000

/** Two processes of the API, those behind it and the database are killed while people sign in and out. */
export async function livePeople(ending: Ending, rounds: number): Promise<Lived> {
  const postgres = await openPostgres(ending)
  const settings = {
    ...{ POSTGRES_URL: postgres.url, DATA_DIR: scratch(ending), BASE_URL: 'https://pay.example' },
    ...{ RATE_LIMIT: 'off', LOG_LEVEL: 'silent' },
  }
  const start = (name: ServiceName, port = 0) =>
    new ServiceApart(ending, name, { ...settings, PORT: String(port) })
  await start('setup').ended
  const names = ['api', 'api', 'processes', 'projector'] as const
  const running = names.map((name) => start(name))
  const ports = await Promise.all(running.map((one) => one.port()))
  const runtime = await openRuntime(readConfiguration(settings))
  ending.teardown(() => runtime.close())
  const { codes, store } = runtime.dependencies

  const people = new People({ clients: ports.slice(0, 2).map(clientAt), codes })
  let isOver = false
  const living = Promise.all(Array.from({ length: atOnce }, () => people.live(() => isOver)))
  for (let turn = 0; turn < rounds * (names.length + 1); turn++) {
    const count = people.count + between
    await eventually(
      async () => people.count,
      (lived) => lived >= count,
    )
    const index = turn % (names.length + 1)
    if (index === names.length) await postgres.crash()
    else {
      await running[index]!.end('SIGKILL')
      running[index] = start(names[index]!, ports[index])
      await running[index].port()
    }
  }
  isOver = true
  await living
  const held = await claimsLeftHeld(store, heldMs)
  const complaints = [...(await people.complaints()), ...held.map((id) => `claim ${id} is held for ever`)]
  return { tally: people.tally(), complaints }
}

function clientAt(port: number): Client {
  const call =
    (method: string) =>
    async <Body>(path: string, body: unknown, { key = '', headers = {} }: CallOptions) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: {
          'content-type': 'application/json',
          ...(key && { authorization: `Bearer ${key}` }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const answered = { status: response.status, headers: response.headers }
      return { ...answered, body: (await response.json()) as Body } satisfies Answer<Body>
    }
  return { get: (path, options) => call('GET')(path, undefined, options), post: call('POST') }
}
