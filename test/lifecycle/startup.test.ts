import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readConfiguration } from '../../infra/configuration.ts'
import { openRuntime } from '../../services/composition/dependencies.ts'
import { openingTogether, type Opening } from '../../services/composition/opening-together.ts'
import { testCertificate } from '../support/network/certificate.ts'
import { closedPort } from '../support/network/closed-port.ts'
import { eventually } from '../support/eventually.ts'
import { notReady } from '../support/eventstoredb-peer/failures.ts'
import { Log } from '../support/eventstoredb-peer/log.ts'
import { EventStoreDbPeer } from '../support/eventstoredb-peer/peer.ts'
import { lawOver } from '../support/law.ts'
import { postgresBehindProxy } from '../support/network/postgres-behind-proxy.ts'
import { temporaryDirectory, testDatabase } from '../support/postgres.ts'
import { ServiceApart, type ServiceName } from '../support/processes/service-apart.ts'
import { ServiceProcess } from '../support/processes/service-process.ts'

interface Trouble {
  readonly service: ServiceName
  readonly settings: Readonly<Record<string, string>>
  /** All that is said. */
  readonly says: RegExp
}

const nowhere = '127.0.0.1:9'
const taken = createServer().listen(0)
await once(taken, 'listening')
t.teardown(() => taken.close())
const { port } = taken.address() as AddressInfo
const { url } = await testDatabase(t)

const certificate = testCertificate(temporaryDirectory(t))
const eventStore = await EventStoreDbPeer.start(new Log(), certificate)
t.teardown(() => eventStore.stop())
eventStore.letInOnly({ name: 'ikw', password: 'secret', lacks: ['read $all'] })
const missing = new URL(url)
missing.pathname = '/no_such_thing'
const away = { POSTGRES_URL: `postgres://somebody:secret@${nowhere}/ikw`, KAFKA_BROKERS: nowhere }

/** A line of each, in any order, and no others. */
function saysAll(...lines: readonly RegExp[]): RegExp {
  const each = lines.map(({ source }) => `(?=(?:.*\\n)*?${source.slice(1, -1)}\\n)`)
  return new RegExp(`^${each.join('')}(?:.*\\n){${lines.length}}$`)
}

/** Each service needs something else, so that each sentence is read once. */
const troubles: Readonly<Record<string, Trouble>> = {
  'a relay apart without a broker': {
    service: 'relay',
    settings: {},
    says: /^KAFKA_BROKERS must be set where services run apart [^\n]+\n$/,
  },
  'a broker that does not answer': {
    service: 'webhooks',
    settings: { KAFKA_BROKERS: nowhere },
    says: /^Kafka at 127\.0\.0\.1:9 cannot be reached, see KAFKA_BROKERS: [^\n]+\n$/,
  },
  'a database that does not answer': {
    service: 'projector',
    settings: { POSTGRES_URL: `postgres://somebody:secret@${nowhere}/ikw` },
    says: /^PostgreSQL at 127\.0\.0\.1:9\/ikw cannot be reached: [^\n]+\n$/,
  },
  'an event store that does not answer': {
    service: 'processes',
    settings: { EVENTSTORE_URL: `esdb://${nowhere}?tls=false` },
    says: /^EventStoreDB at 127\.0\.0\.1:9 cannot be reached: [^\n]+\n$/,
  },
  'an event store whose $all may not be read, however long the wait': {
    service: 'processes',
    settings: { EVENTSTORE_URL: eventStore.urlOf('ikw', 'secret'), START_WAIT_SECONDS: '300' },
    says: /^\$all may not be read by the user of EVENTSTORE_URL: see [^\n]+\n$/,
  },
  'an event store with another password, however long the wait': {
    service: 'processes',
    settings: { EVENTSTORE_URL: eventStore.urlOf('ikw', 'wrong'), START_WAIT_SECONDS: '300' },
    says: /^EventStoreDB does not accept the user or the password of EVENTSTORE_URL\n$/,
  },
  'a database that is not on its server, however long the wait': {
    service: 'projector',
    settings: { POSTGRES_URL: missing.href, START_WAIT_SECONDS: '300' },
    says: /^PostgreSQL at [^\n]+ cannot be reached: database "no_such_thing" does not exist\n$/,
  },
  'every engine that does not answer': {
    service: 'webhooks',
    settings: { ...away, EVENTSTORE_URL: `esdb://${nowhere}?tls=false` },
    says: saysAll(/^PostgreSQL at \S+ cannot [^\n]+$/, /^EventStoreDB at [^\n]+$/, /^Kafka at [^\n]+$/),
  },
  'an event store with another password, however long others are waited for': {
    service: 'webhooks',
    settings: { ...away, EVENTSTORE_URL: eventStore.urlOf('ikw', 'wrong'), START_WAIT_SECONDS: '300' },
    says: /^(.+; waiting up to 300 s for it\n)*EventStoreDB does not accept the user [^\n]+\n$/,
  },
  'a port that is taken': {
    service: 'api',
    settings: { PORT: String(port) },
    says: /^No live provider [^\n]+\nport \d+ is in use: set PORT to another one\n$/,
  },
  'a port for health that is taken': {
    service: 'projector',
    settings: { HEALTH_PORT: String(port) },
    says: /^port \d+ is in use: set HEALTH_PORT to another one\n$/,
  },
  'a setting that cannot be': {
    service: 'distributed',
    settings: { COPIES: 'many' },
    says: /^COPIES is "many", but must be a whole number from 1 to 9\n$/,
  },
}

for (const [what, { service, settings, says }] of Object.entries(troubles)) {
  t.test(`${what} ends the start with one sentence`, async (t) => {
    const given = { POSTGRES_URL: url, DATA_DIR: temporaryDirectory(t), PORT: '0', LOG_LEVEL: 'silent' }
    const started = new ServiceApart(t, service, { ...given, START_WAIT_SECONDS: '0', ...settings })
    t.equal(await started.ended, 1)
    t.match(started.errors, says)
    t.equal(started.output, '')
  })
}

t.test('no service starts with another master key than its log', async (t) => {
  const { url: POSTGRES_URL } = await testDatabase(t)
  const [own, next] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
  const settings = () => ({ POSTGRES_URL, DATA_DIR: temporaryDirectory(t), PORT: '0', LOG_LEVEL: 'silent' })
  const first = await openRuntime(readConfiguration({ ...settings(), MASTER_KEY: own }))
  await first.dependencies.blindIndex('a name')
  const head = await first.asStored.head()

  const names = ['api', 'processes', 'projector', 'relay', 'notary', 'setup'] as const
  await lawOver(t, names, async (name) => {
    const given = { ...settings(), MASTER_KEY: next, KAFKA_BROKERS: nowhere }
    const started = new ServiceApart(t, name, given, { isSupervised: false })
    t.equal(await started.ended, 1, name)
    t.match(
      started.errors,
      /This is not the master key of this log \([^\n]+\): set MASTER_KEY, or DATA_DIR [^\n]+\n$/,
    )
    t.equal(started.output, '')
  })
  t.equal(await first.asStored.head(), head, 'nothing was written')
  await first.close()

  const rotated = await openRuntime(readConfiguration({ ...settings(), MASTER_KEY: `${next},${own}` }))
  await rotated.close()
})

const asModule = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`
/** As when an upgrade replaces files, or too many are open. */
const without = (library: string) =>
  asModule(`
  import { register } from 'node:module'
  register(${JSON.stringify(
    asModule(`export async function resolve(name, from, next) {
      if (name.startsWith('${library}')) throw new Error('no library')
      return next(name, from)
    }`),
  )})`)
const cannotBeLoaded = { code: 1, errors: /^no library$/m }

/** It has started, and has ended. */
function databaseHasEnded(t: Test, dataDirectory: string): void {
  t.ok(existsSync(join(dataDirectory, 'postgres/PG_VERSION')), 'it had started')
  t.notOk(existsSync(join(dataDirectory, 'postgres/postmaster.pid')), 'and has ended')
}

t.test('a library that cannot be loaded ends the start, and the database that has started', async (t) => {
  const telemetry = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://${nowhere}` }
  await lawOver(t, ['nodemailer', '@opentelemetry/'], async (library) => {
    const DATA_DIR = temporaryDirectory(t)
    const NODE_OPTIONS = `--import ${without(library)}`
    const service = new ServiceProcess({ DATA_DIR, HEALTH_PORT: '0', NODE_OPTIONS, ...telemetry })
    t.teardown(() => service.end('SIGKILL'))
    t.match(await service.ended, cannotBeLoaded)
    databaseHasEnded(t, DATA_DIR)
  })
})

t.test('keys that cannot be read end the start, and the database that has started', async (t) => {
  await lawOver(t, ['setup', 'distributed'] as const, async (name) => {
    const DATA_DIR = temporaryDirectory(t)
    mkdirSync(join(DATA_DIR, 'credentials.json'))
    const settings = { DATA_DIR, PORT: '0', LOG_LEVEL: 'silent', KAFKA_BROKERS: nowhere }
    const started = new ServiceApart(t, name, settings)
    t.equal(await started.ended, 1)
    t.match(started.errors, /credentials\.json is damaged[^\n]+\n$/)
    databaseHasEnded(t, DATA_DIR)
  })
})

t.test('a service apart says what works on this machine only', async (t) => {
  const settings = { POSTGRES_URL: url, DATA_DIR: temporaryDirectory(t), LOG_LEVEL: 'silent' }
  const started = new ServiceApart(t, 'projector', settings, { isSupervised: false })
  await started.port()
  t.equal(await started.end('SIGTERM'), 0)
  t.match(
    started.errors,
    /^MASTER_KEY is not set: webhook secrets are sealed with [^\n]+master\.key[^\n]+\n$/,
  )
})

t.test('engines that are away are waited for together', async (t) => {
  const ports = { POSTGRES_URL: await closedPort(), EVENTSTORE_URL: await closedPort() }
  const settings = {
    POSTGRES_URL: `postgres://somebody:secret@127.0.0.1:${ports.POSTGRES_URL}/ikw`,
    EVENTSTORE_URL: `esdb://127.0.0.1:${ports.EVENTSTORE_URL}?tls=false`,
    DATA_DIR: temporaryDirectory(t),
  }
  const started = new ServiceApart(t, 'processes', { ...settings, START_WAIT_SECONDS: '300' })
  const lines = [/^PostgreSQL at [^\n]+; waiting up to 300 s for it$/, /^EventStoreDB at [^\n]+ for it$/]
  const says = saysAll(...lines)
  await eventually(
    async () => started.errors,
    (errors) => says.test(errors),
  )
  t.equal(await started.end('SIGTERM'), 0, 'and not for a moment longer than it is to start')
})

const isAway = Object.assign(new Error('An engine cannot be reached'), { code: 'ECONNREFUSED' })
const forever = () => new Promise<never>(() => undefined)
const hanging: Readonly<Record<string, (opening: Opening) => Promise<unknown>>> = {
  'what is done with another one': ({ repeat }) => repeat(forever),
  'what is done again with another one, which was away': ({ repeat }) => {
    let times = 0
    return repeat(() => (times++ === 0 ? Promise.reject(isAway) : forever()))
  },
  'another one, which does not close': ({ open }) => open(async () => ({ close: forever })),
}

for (const [what, begin] of Object.entries(hanging)) {
  t.test(`an engine that is too late ends the start, though ${what} hangs`, async (t) => {
    const start = openingTogether({ waitSeconds: 1 }, (opening) =>
      Promise.all([begin(opening), opening.open(() => Promise.reject(isAway))]),
    )
    await t.rejects(start, /An engine (cannot be reached|that was up is away again)/)
  })
}

const late: Readonly<Record<string, (peer: EventStoreDbPeer) => Promise<() => Promise<void> | void>>> = {
  'is not there yet': async ({ line }) => {
    await line.close()
    return () => line.open()
  },
  'is not ready yet': async (peer) => {
    peer.failCalls(notReady)
    return () => peer.recover()
  },
}

for (const [what, begin] of Object.entries(late)) {
  t.test(`an event store that ${what} is waited for`, async (t) => {
    const peer = await EventStoreDbPeer.start()
    t.teardown(() => peer.stop())
    const arrive = await begin(peer)
    const { url } = await testDatabase(t)
    const places = {
      POSTGRES_URL: url,
      EVENTSTORE_URL: peer.url,
      MASTER_KEY: randomBytes(32).toString('base64'),
    }
    const settings = { ...places, DATA_DIR: temporaryDirectory(t), LOG_LEVEL: 'silent', PORT: '0' }
    const started = new ServiceApart(t, 'projector', settings)
    const says = /^EventStoreDB at \S+ cannot be reached: [^\n]+; waiting up to 30 s for it\n$/
    await eventually(
      async () => started.errors,
      (errors) => says.test(errors),
    )
    await arrive()
    await started.port()
    t.match(started.errors, says, 'which is said once')
  })
}

t.test('an event store that goes away again while a database is waited for is waited for too', async (t) => {
  const peer = await EventStoreDbPeer.start()
  t.teardown(() => peer.stop())
  const { url, gone, back } = await postgresBehindProxy(t)
  gone()
  const places = { POSTGRES_URL: url, EVENTSTORE_URL: peer.url, DATA_DIR: temporaryDirectory(t) }
  const settings = { LOG_LEVEL: 'silent', PORT: '0', START_WAIT_SECONDS: '300' }
  const started = new ServiceApart(t, 'projector', { ...places, ...settings })
  // The append that looks for the right to write is the last thing of its opening.
  await peer.until(({ appends }) => appends > 0)
  peer.failCalls(notReady)
  back()
  const says = /^An engine that was up is away again: [^\n]+Server Is Not Ready; waiting up to 300 s for it$/m
  const told = eventually(
    async () => started.errors,
    (errors) => says.test(errors),
  )
  // Who has ended never says it.
  await Promise.race([told, started.port()])
  peer.recover()
  await started.port()
  t.match(started.errors, says)
})
