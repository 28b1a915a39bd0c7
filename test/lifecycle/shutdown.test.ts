import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { ConfigurationError, readConfiguration } from '../../infra/configuration.ts'
import { connectPostgres } from '../../infra/postgres/client/connect.ts'
import { startEmbeddedPostgres } from '../../infra/postgres/server/embedded.ts'
import { closedPort } from '../support/network/closed-port.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory } from '../support/postgres.ts'
import { killConnection, killPostgres, signalPostgres } from '../support/processes/postmaster.ts'
import { ServiceApart } from '../support/processes/service-apart.ts'
import { ServiceProcess, serviceProcess } from '../support/processes/service-process.ts'
import type { MerchantClient } from '../support/service.ts'

const clients = 16

/** What a service stands on, by name, as it says itself. */
type Dependencies = Readonly<Record<string, { readonly status: string }>>

/** How an exchange ended: answered, answered as the last one of its connection, or not taken any more. */
type CallOutcome = 'answered' | 'closing' | 'not taken' | 'not connected'

/** One client with one connection that it keeps, as merchants' servers do. */
class KeepingClient {
  readonly outcomes: CallOutcome[] = []
  readonly statuses = new Set<number>()
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #client: MerchantClient

  constructor(client: MerchantClient) {
    this.#client = client
  }

  /** Sends one request after the other until nobody listens any more. */
  async work(): Promise<void> {
    while (this.outcomes.at(-1) !== 'not connected') this.outcomes.push(await this.#exchange())
    this.#agent.destroy()
  }

  async #exchange(): Promise<CallOutcome> {
    const headers = {
      authorization: `Bearer ${this.#client.sandboxKey}`,
      'ikw-environment': 'sandbox',
      'content-type': 'application/json',
    }
    const request = httpRequest(`${this.#client.url}/api/v1/payment-intents`, {
      agent: this.#agent,
      method: 'POST',
      headers,
    })
    request.end(JSON.stringify({ amount: 1_000, currency: 'XOF', transaction_country: 'SN' }))
    try {
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      await response.toArray()
      this.statuses.add(response.statusCode!)
      return response.headers.connection === 'close' ? 'closing' : 'answered'
    } catch (error) {
      return (error as { code?: string }).code === 'ECONNREFUSED' ? 'not connected' : 'not taken'
    }
  }
}

t.test('a service that is told again and again to end ends once, and so does its database', async (t) => {
  const dataDirectory = temporaryDirectory(t)
  const { service } = await serviceProcess(t, dataDirectory)
  let isOver = false
  void service.ended.then(() => (isOver = true))
  const tellAgain = async () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) void service.end(signal)
    return isOver
  }
  await eventually(tellAgain, (is) => is)
  t.match(await service.ended, { code: 0 })
  t.notOk(existsSync(join(dataDirectory, 'postgres/postmaster.pid')))
})

t.test('a stop that hangs says what hangs, stops the database and ends with code 1', async (t) => {
  const dataDirectory = temporaryDirectory(t)
  t.teardown(() => killPostgres(dataDirectory))
  const file = 'test/support/processes/hanging-process'
  const started = new ServiceApart(t, 'projector', { DATA_DIR: dataDirectory }, { file })
  await started.port()
  started.signal('SIGTERM')
  const askAgain = async () => {
    started.signal('SIGINT')
    return started.errors
  }
  await eventually(askAgain, (errors) => errors !== '')
  t.match(started.errors, /^Still stopping: projector; at most \d s more\n$/)
  t.equal(await started.ended, 1)
  t.match(started.errors, /\nNot stopped within 3 s: projector; ended all the same\n$/)
  t.notOk(existsSync(join(dataDirectory, 'postgres/postmaster.pid')))
})

t.test('a stop on a server that hangs ends as well, and says so', async (t) => {
  const dataDirectory = temporaryDirectory(t)
  t.teardown(() => killPostgres(dataDirectory))
  const file = 'test/support/processes/hanging-process'
  const started = new ServiceApart(t, 'projector', { DATA_DIR: dataDirectory }, { file })
  await started.port()
  signalPostgres(dataDirectory, 'SIGSTOP')
  started.signal('SIGTERM')
  t.equal(await Promise.race([started.ended, pause(30_000, 'it still runs', { ref: false })]), 1)
  t.match(
    started.errors,
    /^Not stopped within 3 s: projector; ended all the same\nPostgreSQL in \S+ does not answer/,
  )
})

t.test(
  'a service that is told to stop under load answers what it has taken and ends with code 0',
  async (t) => {
    const dataDirectory = temporaryDirectory(t)
    t.teardown(() => killPostgres(dataDirectory))
    const { service, client } = await serviceProcess(t, dataDirectory)
    const keeping = Array.from({ length: clients }, () => new KeepingClient(client))
    const work = Promise.all(keeping.map((one) => one.work()))
    await eventually(
      async () => keeping.reduce((sum, { outcomes }) => sum + outcomes.length, 0),
      (count) => count > 200,
    )
    const ending = await service.end('SIGTERM')
    await work
    t.equal(ending.code, 0)
    t.match(ending.errors, /^No live provider [^\n]+\n$/, 'it says nothing of its end')
    t.notOk(killPostgres(dataDirectory), 'its database has stopped with it')
    const statuses = new Set(keeping.flatMap((one) => [...one.statuses]))
    t.strictSame([...statuses], [201], 'nothing is refused before the listener closes')
    const { pool, close } = await connectPostgres({ dataDirectory })
    const { rows } = await pool.query<{ count: number }>(
      `select count(*) as count from events where type = 'PaymentIntentCreated'`,
    )
    await close()
    const answered = keeping.flatMap(({ outcomes }) =>
      outcomes.filter((one) => one === 'answered' || one === 'closing'),
    )
    t.equal(rows[0]!.count, answered.length, 'what was done was answered')
    t.ok(
      keeping.some(({ outcomes }) => outcomes.includes('closing')),
      'who keeps a connection is told that it ends',
    )
  },
)

t.test('a database that recovers from a crash is stopped too', async (t) => {
  const dataDirectory = temporaryDirectory(t)
  t.teardown(() => killPostgres(dataDirectory))
  const { service } = await serviceProcess(t, dataDirectory)
  await killConnection(dataDirectory)
  await service.end('SIGTERM')
  t.notOk(existsSync(join(dataDirectory, 'postgres/postmaster.pid')))
})

t.test('connections that only wait do not keep a service from stopping', async (t) => {
  const dataDirectory = temporaryDirectory(t)
  t.teardown(() => killPostgres(dataDirectory))
  const { service, client } = await serviceProcess(t, dataDirectory)
  const agent = new Agent({ keepAlive: true })
  const waiting = httpRequest(`${client.url}/healthz`, { agent }).end()
  const [response] = (await once(waiting, 'response')) as [IncomingMessage]
  await response.toArray()
  const [socket] = Object.values(agent.freeSockets).flat()
  const closed = once(socket!, 'close')
  t.equal((await service.end('SIGTERM')).code, 0)
  t.strictSame(await closed, [false], 'ended without an error')
})

t.test(
  'a service whose database cannot be reached says so in one sentence and ends with code 1',
  async (t) => {
    const port = await closedPort()
    const dataDirectory = temporaryDirectory(t)
    const service = new ServiceProcess({
      DATA_DIR: dataDirectory,
      START_WAIT_SECONDS: '0',
      POSTGRES_URL: `postgres://ikw:secret@127.0.0.1:${port}/ikw`,
    })
    const { code, errors, output } = await service.ended
    t.equal(code, 1)
    t.match(errors, new RegExp(`^PostgreSQL at 127\\.0\\.0\\.1:${port}/ikw cannot be reached: [^\\n]+\\n$`))
    t.equal(output, '')
  },
)

t.test('a service that is started with a wrong setting names it and ends with code 1', async (t) => {
  const { code, errors } = await new ServiceProcess({ PORT: 'eighty' }).ended
  t.strictSame([code, errors], [1, 'PORT is "eighty", but must be a whole number from 0 to 65535\n'])
})

const wrong: Readonly<Record<string, readonly string[]>> = {
  PORT: ['-1', '65536', '80.5', 'x'],
  HEALTH_PORT: ['-1', '65536'],
  COPIES: ['0', '10', 'many'],
  POSTGRES_URL: ['mysql://ikw:secret@localhost/ikw', 'localhost:5432', 'postgres:ikw'],
  START_WAIT_SECONDS: ['-1', '3601', 'long'],
  EVENTSTORE_URL: ['http://admin:secret@localhost:2113', 'localhost'],
  EVENTSTORE_PREFIX: ['ikw-', 'ikw.'],
  KAFKA_BROKERS: ['localhost', 'localhost:9092,', ','],
  KAFKA_TLS: ['yes', '1'],
  KAFKA_CA_FILE: ['ca.pem'],
  KAFKA_CERT_FILE: ['service.pem'],
  KAFKA_KEY_FILE: ['service.key'],
  KAFKA_SASL: ['gssapi', 'plaintext'],
  KAFKA_USERNAME: ['ikw'],
  KAFKA_PASSWORD: ['secret'],
  SANDBOX_URL: ['localhost:8081', 'ftp://us:secret@localhost', 'http://'],
  EGRESS_ALLOW: ['127.0.0.1', '10.0.0.0/40', '10/8', '010.0.0.0/8', 'localhost', '127.0.0.0/8,'],
  TRUSTED_PROXIES: ['10.0.0.1', '10.0.0.0/33', 'loopback'],
  COUNTRY_HEADER: ['CF-IPCountry', 'CF IPCountry'],
  RATE_LIMIT: ['yes', '0'],
  REQUIRE_ENVIRONMENT_HEADER: ['on', '1'],
  LOG_LEVEL: ['verbose', '3'],
  LOG_FORMAT: ['text'],
  MASTER_KEY: ['short', 'x'.repeat(44)],
  SMTP_URL: ['http://us:secret@localhost', 'localhost:25', 'smtp://'],
  SMS_URL: ['localhost:9000', 'ftp://us:secret@localhost', 'http://'],
  GOOGLE_CLIENT_ID: ['ikw'],
  GOOGLE_CLIENT_SECRET: ['secret'],
  GOOGLE_ISSUER: ['https://accounts.google.com'],
  REQUESTS_IN_FLIGHT_MAX: ['0', 'many'],
  DRAIN_SECONDS: ['-1', '301', '1.5'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['localhost:4318', 'grpc://us:secret@localhost:4317'],
  BASE_URL: ['localhost:8080', 'ftp://us:secret@localhost', 'https://'],
  DASHBOARD_URL: ['localhost:8080', 'ftp://us:secret@localhost', 'https://'],
  WITNESSES: ['http://us:secret@localhost:8090', 'localhost:8090 us+0123abcd+key'],
}

t.test('a wrong setting is refused by its name, and no password is repeated', (t) => {
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      const { message } = refusal(() => readConfiguration({ [name]: value }))
      t.ok(message.startsWith(`${name} `), `${name}=${value}: ${message}`)
      t.notOk(message.includes('secret'), message)
    }
  }
  t.end()
})

t.test('every setting has a wrong value here, or takes any text', (t) => {
  const asked = new Set<string>()
  readConfiguration(
    new Proxy<Record<string, string>>(
      {},
      {
        get: (_, name) => void asked.add(String(name)),
      },
    ),
  )
  const free = ['DATA_DIR', 'MAIL_FROM', 'SMS_FROM', 'INSTANCE']
  t.strictSame([...asked].sort(), [...Object.keys(wrong), ...free].sort())
  t.end()
})

t.test(
  'while its database is away a service is not ready and says why; then it is ready again',
  async (t) => {
    const home = temporaryDirectory(t)
    const postgres = await startEmbeddedPostgres({ directory: home })
    t.teardown(() => killPostgres(home))
    const { service, client } = await serviceProcess(t, temporaryDirectory(t), { POSTGRES_URL: postgres.url })
    t.match(await client.health('/readyz'), {
      status: 200,
      body: { status: 'ready', dependencies: { postgres: { status: 'up' } } },
    })
    killPostgres(home)
    // Its backends outlive the server for a moment, each for itself.
    const down = await eventually(
      () => client.health('/readyz'),
      ({ body }) => Object.values(body.dependencies as Dependencies).every(({ status }) => status === 'down'),
    )
    const named = { status: 'down', reason: /./ }
    t.match(down, {
      status: 503,
      body: { status: 'not ready', dependencies: { postgres: named, event_store: named } },
    })
    t.match(await client.get('/healthz'), { status: 200 }, 'it lives')
    const again = await startEmbeddedPostgres({ directory: home })
    await eventually(
      () => client.health('/readyz'),
      ({ status }) => status === 200,
    )
    const { code } = await service.end('SIGTERM')
    t.equal(code, 0)
    await again.stop()
  },
)

function refusal(work: () => unknown): ConfigurationError {
  try {
    work()
  } catch (error) {
    if (error instanceof ConfigurationError) return error
  }
  throw new Error('it was not refused')
}
