import type { Metadata } from '@grpc/grpc-js'
import type streams from '@eventstore/db-client/generated/streams_pb.js'
import { streamName } from './messages.ts'

export const rights = ['read $all', 'read streams', 'read metadata', 'write'] as const
export type Right = (typeof rights)[number]

/** The only one whom a server lets in. */
export interface User {
  readonly name: string
  readonly password: string
  readonly lacks: readonly Right[]
}

export function isUser({ name, password }: User, metadata: Metadata): boolean {
  const basic = Buffer.from(`${name}:${password}`).toString('base64')
  return metadata.get('authorization')[0] === `Basic ${basic}`
}

/** What a read needs. */
export function rightToRead(options: streams.ReadReq.Options | undefined): Right {
  if (options?.hasAll()) return 'read $all'
  const stream = streamName(options?.getStream()?.getStreamIdentifier())
  return stream.startsWith('$$') ? 'read metadata' : 'read streams'
}
