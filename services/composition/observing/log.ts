import { pino, type LoggerOptions } from 'pino'
import type { Configuration } from '../../../infra/configuration.ts'
import type { Log } from '../../../packages/kernel/ports.ts'

/** Phone numbers, accounts and credentials are redacted here, not at each log call. */
const redacted = [
  '*.msisdn',
  '*.accountNumber',
  '*.account_number',
  '*.secret',
  '*.authorization',
  '*.token',
  'headers.authorization',
]

const standardError = 2
const flushEveryMs = 1_000
const bufferBytes = 4_096

/**
 * This process's log on standard error: readable text on a terminal, otherwise JSON. Lines are buffered for
 * up to a second; a warning flushes them before anything else happens.
 */
export async function openLog({ logLevel, logFormat, instance }: Configuration): Promise<Log> {
  const options: LoggerOptions = {
    level: logLevel,
    base: { instance },
    redact: redacted,
    serializers: { error: pino.stdSerializers.err },
  }
  if (logFormat === 'pretty') {
    const { default: pretty } = await import('pino-pretty')
    return pino(options, pretty({ destination: standardError, sync: true, ignore: 'pid,hostname,instance' }))
  }
  const destination = pino.destination({
    dest: standardError,
    sync: false,
    minLength: bufferBytes,
    periodicFlush: flushEveryMs,
  })
  const urgent = pino.levels.values['warn']!
  const hooks: LoggerOptions['hooks'] = {
    logMethod(parameters, method, level) {
      method.apply(this, parameters)
      if (level >= urgent) destination.flushSync()
    },
  }
  return pino({ ...options, hooks }, destination)
}
