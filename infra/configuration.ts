import { randomUUID } from 'node:crypto'
import { isAddressBlock } from './http/addresses.ts'
import type { GoogleClient } from './secrets/google.ts'
import { saslMechanisms, type KafkaAccess } from './event-bus/kafka-security.ts'

/** Every setting, read once at start. The only file that reads the environment. */
export interface Configuration {
  /** Where the API listens, and the simulated operators where they run as a process of their own. */
  readonly port: number
  /** Where a separate service answers /healthz, /readyz and /metrics; 0 is any free port. */
  readonly healthPort: number
  readonly dataDirectory: string
  /** Left out: the embedded PostgreSQL. */
  readonly postgresUrl: string | undefined
  /** Left out: the embedded event store on Postgres. */
  readonly eventStoreUrl: string | undefined
  /** How long a start waits for engines that are not up yet. */
  readonly startWaitSeconds: number
  /** Put before each stream's name there, so that several installations can share one server. */
  readonly eventStorePrefix: string
  /** Left out: the in-process bus. */
  readonly kafkaBrokers: readonly string[] | undefined
  readonly kafkaAccess: KafkaAccess
  /** Left out: the simulated operators run in this process and keep their data in its Postgres. */
  readonly sandboxUrl: string | undefined
  /** CIDR blocks that webhook URLs may point to although they are private. */
  readonly egressAllow: readonly string[]
  /** CIDR blocks of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[]
  /** In which they say from which country a request comes, in lower case. */
  readonly countryHeader: string | undefined
  readonly rateLimit: boolean
  readonly requireEnvironmentHeader: boolean
  readonly logLevel: LogLevel
  readonly logFormat: 'json' | 'pretty'
  /** 32 bytes in base64, older keys after it, separated by commas; left out, kept in the data directory. */
  readonly masterKey: string | undefined
  /** Left out: mails are written to files in the data directory. */
  readonly smtpUrl: string | undefined
  readonly mailFrom: string
  /** Left out: messages to telephones are written to files in the data directory. */
  readonly smsUrl: string | undefined
  readonly smsFrom: string
  /** This service's client at Google; left out, nobody signs in with Google. */
  readonly google: GoogleClient | undefined
  /** The public address of this service, for merchants and payers. */
  readonly baseUrl: string
  /** Where the merchants' pages are, to which mailed links lead. */
  readonly dashboardUrl: string
  /** Witnesses that vouch that the log only grows: each one's address and verifier key. */
  readonly witnesses: readonly { readonly url: string; readonly verifierKey: string }[]
  /** Names this process in logs and locks. */
  readonly instance: string
  /** How many of each service `make run-distributed` starts. */
  readonly copies: number
  /** Requests that one API process works on at once; any more are answered 503. */
  readonly requestsInFlightMax: number
  /** How long a stopping process reports not ready before it stops accepting connections. */
  readonly drainSeconds: number
  /**
   * Where traces and metrics are sent by OTLP; left out, nowhere. The SDK reads its other variables
   * (OTEL_EXPORTER_OTLP_PROTOCOL, OTEL_TRACES_SAMPLER, …) itself, as its documentation says.
   */
  readonly telemetryUrl: string | undefined
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** An invalid setting: one sentence that names the variable and what it takes. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
}

type Environment = Readonly<Record<string, string | undefined>>

/** Reads the settings from the environment; throws ConfigurationError for the first invalid one. */
export function readConfiguration(environment: Environment = process.env): Configuration {
  const text = (name: string) => environment[name]?.trim() || undefined
  const whole = (name: string, standard: number, limits: { least: number; most: number }) =>
    integer(name, text(name) ?? String(standard), limits)
  const port = whole('PORT', 8080, { least: 0, most: 65_535 })
  return {
    port,
    healthPort: whole('HEALTH_PORT', 0, { least: 0, most: 65_535 }),
    dataDirectory: text('DATA_DIR') ?? '.data',
    postgresUrl: url('POSTGRES_URL', text('POSTGRES_URL'), ['postgres:', 'postgresql:']),
    eventStoreUrl: url('EVENTSTORE_URL', text('EVENTSTORE_URL'), ['esdb:', 'esdb+discover:']),
    startWaitSeconds: whole('START_WAIT_SECONDS', 30, { least: 0, most: 3_600 }),
    eventStorePrefix: streamPrefix(text('EVENTSTORE_PREFIX') ?? ''),
    ...kafka(text),
    sandboxUrl: url('SANDBOX_URL', text('SANDBOX_URL'), ['http:', 'https:']),
    egressAllow: blocks('EGRESS_ALLOW', text('EGRESS_ALLOW')),
    ...proxies(text),
    rateLimit: word('RATE_LIMIT', text('RATE_LIMIT') ?? 'on', ['on', 'off']) === 'on',
    requireEnvironmentHeader:
      word('REQUIRE_ENVIRONMENT_HEADER', text('REQUIRE_ENVIRONMENT_HEADER') ?? 'true', ['true', 'false']) ===
      'true',
    ...logging(text),
    masterKey: masterKey(text('MASTER_KEY')),
    ...messages(text),
    google: google(text),
    baseUrl: baseUrl(text('BASE_URL'), port),
    dashboardUrl: (
      url('DASHBOARD_URL', text('DASHBOARD_URL'), ['http:', 'https:']) ?? baseUrl(text('BASE_URL'), port)
    ).replace(/\/$/, ''),
    witnesses: witnesses(text('WITNESSES')),
    instance: text('INSTANCE') ?? randomUUID().slice(0, 8),
    copies: whole('COPIES', 1, { least: 1, most: 9 }),
    requestsInFlightMax: whole('REQUESTS_IN_FLIGHT_MAX', 1000, { least: 1, most: 100_000 }),
    drainSeconds: whole('DRAIN_SECONDS', 0, { least: 0, most: 300 }),
    telemetryUrl: url('OTEL_EXPORTER_OTLP_ENDPOINT', text('OTEL_EXPORTER_OTLP_ENDPOINT'), [
      'http:',
      'https:',
    ]),
  }
}

function proxies(text: (name: string) => string | undefined) {
  const trustedProxies = blocks('TRUSTED_PROXIES', text('TRUSTED_PROXIES'))
  const header = text('COUNTRY_HEADER')
  if (header !== undefined && !/^[A-Za-z0-9-]+$/.test(header))
    throw new ConfigurationError('COUNTRY_HEADER must be the name of a header, such as CF-IPCountry')
  if (trustedProxies.length === 0) refuseWithout('TRUSTED_PROXIES', ['COUNTRY_HEADER'], text)
  return { trustedProxies, countryHeader: header?.toLowerCase() }
}

function baseUrl(text: string | undefined, port: number): string {
  return (url('BASE_URL', text, ['http:', 'https:']) ?? `http://localhost:${port}`).replace(/\/$/, '')
}

function messages(text: (name: string) => string | undefined) {
  return {
    smtpUrl: url('SMTP_URL', text('SMTP_URL'), ['smtp:', 'smtps:']),
    mailFrom: text('MAIL_FROM') ?? 'payments@localhost',
    smsUrl: url('SMS_URL', text('SMS_URL'), ['http:', 'https:']),
    smsFrom: text('SMS_FROM') ?? 'IKW',
  }
}

/** Its issuer is another one only where somebody tries it out. */
function google(text: (name: string) => string | undefined): GoogleClient | undefined {
  const clientId = text('GOOGLE_CLIENT_ID')
  if (clientId === undefined) {
    refuseWithout('GOOGLE_CLIENT_ID', ['GOOGLE_CLIENT_SECRET', 'GOOGLE_ISSUER'], text)
    return undefined
  }
  const clientSecret = text('GOOGLE_CLIENT_SECRET')
  if (clientSecret === undefined)
    throw new ConfigurationError('GOOGLE_CLIENT_ID has no effect without GOOGLE_CLIENT_SECRET')
  const issuer = text('GOOGLE_ISSUER') ?? 'https://accounts.google.com'
  const isHere = /^http:\/\/(127\.0\.0\.1|localhost)(:|\/|$)/.test(issuer)
  return { clientId, clientSecret, issuer: url('GOOGLE_ISSUER', issuer, [isHere ? 'http:' : 'https:'])! }
}

function logging(text: (name: string) => string | undefined) {
  const usual = process.stderr.isTTY ? 'pretty' : 'json'
  return {
    logLevel: word('LOG_LEVEL', text('LOG_LEVEL') ?? 'warn', logLevels),
    logFormat: word('LOG_FORMAT', text('LOG_FORMAT') ?? usual, ['json', 'pretty']),
  }
}

function witnesses(text: string | undefined): Configuration['witnesses'] {
  return (text?.split(',') ?? []).map((item) => {
    const [address, verifierKey = '', ...rest] = item.trim().split(/\s+/)
    if (!verifierKey.includes('+') || rest.length > 0)
      throw new ConfigurationError('WITNESSES takes URLs, each with a space and a verifier key behind it')
    return { url: url('WITNESSES', address, ['http:', 'https:'])!, verifierKey }
  })
}

/** The environment of a child process: our own, with some settings changed. */
export function environmentWith(settings: Environment): NodeJS.ProcessEnv {
  return { ...process.env, ...settings }
}

function integer(name: string, text: string, { least, most }: { least: number; most: number }): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new ConfigurationError(`${name} is "${text}", but must be a whole number from ${least} to ${most}`)
  }
  return value
}

function word<const Words extends readonly string[]>(
  name: string,
  text: string,
  words: Words,
): Words[number] {
  const found = words.find((one) => one === text.toLowerCase())
  if (!found) throw new ConfigurationError(`${name} is "${text}", but must be one of ${words.join(', ')}`)
  return found
}

/** A URL may contain a password, so messages never repeat it. */
function url(name: string, text: string | undefined, protocols: readonly string[]): string | undefined {
  if (text === undefined) return undefined
  const known = protocols.some((protocol) => text.startsWith(`${protocol}//`))
  // These two may list several hosts, which URL parsers do not support.
  const isList = protocols[0] === 'esdb:' || protocols[0] === 'postgres:'
  if (!known || !(isList || hasHost(text)))
    throw new ConfigurationError(`${name} must be a URL that starts with ${protocols.join('// or ')}//`)
  return text
}

function hasHost(text: string): boolean {
  return URL.canParse(text) && new URL(text).hostname !== ''
}

function kafka(text: (name: string) => string | undefined) {
  return { kafkaBrokers: brokers(text('KAFKA_BROKERS')), kafkaAccess: kafkaAccess(text) }
}

function kafkaAccess(text: (name: string) => string | undefined): KafkaAccess {
  const isTls = word('KAFKA_TLS', text('KAFKA_TLS') ?? 'off', ['on', 'off']) === 'on'
  if (!isTls) refuseWithout('KAFKA_TLS=on', ['KAFKA_CA_FILE', 'KAFKA_CERT_FILE', 'KAFKA_KEY_FILE'], text)
  const files = {
    caFile: text('KAFKA_CA_FILE'),
    certificateFile: text('KAFKA_CERT_FILE'),
    keyFile: text('KAFKA_KEY_FILE'),
  }
  return { isTls, ...files, sasl: kafkaSasl(text) }
}

function kafkaSasl(text: (name: string) => string | undefined): KafkaAccess['sasl'] {
  const given = text('KAFKA_SASL')
  if (given === undefined) {
    refuseWithout('KAFKA_SASL', ['KAFKA_USERNAME', 'KAFKA_PASSWORD'], text)
    return undefined
  }
  const mechanism = word('KAFKA_SASL', given, saslMechanisms)
  const [username, password] = [text('KAFKA_USERNAME'), text('KAFKA_PASSWORD')]
  if (!username || !password)
    throw new ConfigurationError('KAFKA_USERNAME and KAFKA_PASSWORD must be set where KAFKA_SASL is')
  return { mechanism, username, password }
}

/** A variable that is set but would be ignored is a mistake worth reporting. */
function refuseWithout(
  needed: string,
  names: readonly string[],
  text: (name: string) => string | undefined,
): void {
  const idle = names.find((name) => text(name) !== undefined)
  if (idle !== undefined) throw new ConfigurationError(`${idle} has no effect without ${needed}`)
}

function brokers(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined
  const list = text.split(',').map((broker) => broker.trim())
  const wrong = list.find((broker) => !/^[^\s:]+:\d{1,5}$/.test(broker))
  if (wrong !== undefined)
    throw new ConfigurationError(`KAFKA_BROKERS holds "${wrong}", but takes host:port, separated by commas`)
  return list
}

function blocks(name: string, text: string | undefined): readonly string[] {
  const list = text?.split(',').map((block) => block.trim()) ?? []
  const wrong = list.find((block) => !isAddressBlock(block))
  if (wrong !== undefined)
    throw new ConfigurationError(`${name} holds "${wrong}", but takes CIDR blocks such as 127.0.0.0/8`)
  return list
}

function streamPrefix(text: string): string {
  if (!/^[A-Za-z0-9_]*$/.test(text))
    throw new ConfigurationError('EVENTSTORE_PREFIX must consist of letters, digits and _')
  return text
}

function masterKey(text: string | undefined): string | undefined {
  const isKey = (key: string) => Buffer.from(key, 'base64').length === 32
  if (text !== undefined && !text.split(',').every(isKey)) {
    throw new ConfigurationError('MASTER_KEY must be 32 bytes in base64 (openssl rand -base64 32)')
  }
  return text
}
