import { pino, type LoggerOptions } from 'pino'
import pretty from 'pino-pretty'
import type { Configuration } from '../../infra/configuration.ts'
import type { Log } from '../../packages/kernel/ports.ts'

/** Phone numbers, accounts and credentials are kept out of logs here, not where something is logged. */
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
 * The log of this process, on its standard error: for people at a terminal, else as JSON. Lines are written
 * together, at the latest after a second; with a warning they are written before anything else happens.
 */
export function openLog({ logLevel, logFormat, instance }: Configuration): Log {
  const options: LoggerOptions = {
    level: logLevel,
    base: { instance },
    redact: redacted,
    serializers: { error: pino.stdSerializers.err },
  }
  if (logFormat === 'pretty')
    return pino(options, pretty({ destination: standardError, sync: true, ignore: 'pid,hostname,instance' }))
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
