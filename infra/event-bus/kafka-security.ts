import { readFileSync } from 'node:fs'
import type { KafkaConfig } from 'kafkajs'

export const saslMechanisms = ['plain', 'scram-sha-256', 'scram-sha-512'] as const

/** How a process authenticates to brokers, as configured. */
export interface KafkaAccess {
  readonly isTls: boolean
  /** PEM files: authorities trusted in addition to Node's own, and this process's certificate and key. */
  readonly caFile: string | undefined
  readonly certificateFile: string | undefined
  readonly keyFile: string | undefined
  readonly sasl:
    | {
        readonly mechanism: (typeof saslMechanisms)[number]
        readonly username: string
        readonly password: string
      }
    | undefined
}

export type KafkaSecurity = Pick<KafkaConfig, 'ssl' | 'sasl'>

/** Reads the files; throws the file system's error, which names the file. */
export function kafkaSecurity({ isTls, caFile, certificateFile, keyFile, sasl }: KafkaAccess): KafkaSecurity {
  const pem = (file: string | undefined) => (file === undefined ? undefined : readFileSync(file, 'utf8'))
  const [ca, cert, key] = [caFile, certificateFile, keyFile].map(pem)
  const ssl = { ...(ca && { ca: [ca] }), ...(cert && { cert }), ...(key && { key }) }
  return {
    ...(isTls && { ssl: Object.keys(ssl).length > 0 ? ssl : true }),
    ...(sasl && { sasl: { ...sasl } as NonNullable<KafkaConfig['sasl']> }),
  }
}
