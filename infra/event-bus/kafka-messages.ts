import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { PublicEvent } from '../../packages/kernel/ports/messages.ts'

/** A message that is not one of our public events: it can only be set aside. */
export interface Poison {
  readonly partition: number
  /** A decimal number. */
  readonly offset: string
  readonly reason: string
}

const PublicEventMessage = Type.Object({
  id: Type.String(),
  type: Type.String(),
  merchant: Type.String(),
  livemode: Type.Boolean(),
  resource: Type.String(),
  sequence: Type.Integer(),
  /** Missing in messages of older relays, whose sequence it was. */
  position: Type.Optional(Type.Integer()),
  payload: Type.String(),
})

export interface Message {
  readonly key: string
  readonly value: string
  readonly headers: Readonly<Record<string, string>>
}

/** The history an event belongs to: that of its log, until the log is restored or copied. */
export const branchHeader = 'ikw-branch'

/** How often the topic that a message is in had been made anew. */
export const generationHeader = 'ikw-generation'

/** The key decides the partition, and messages of one partition stay in order. */
export function encode(event: PublicEvent, branch: string): Message {
  const { id, type, merchant, livemode, resource, sequence, position, payload, traceparent } = event
  const value = JSON.stringify({ id, type, merchant, livemode, resource, sequence, position, payload })
  const key = `${merchant}/${livemode ? 'live' : 'test'}/${resource}`
  return { key, value, headers: { [branchHeader]: branch, ...(traceparent && { traceparent }) } }
}

/** Returns the reason when it is not a public event. */
export function decode(
  value: Buffer | null,
  traceparent: string | undefined,
): PublicEvent | { readonly reason: string } {
  const parsed = parse(value)
  if (parsed === undefined) return { reason: 'the message is not JSON' }
  if (Value.Check(PublicEventMessage, parsed)) {
    const event = { ...parsed, position: parsed.position ?? parsed.sequence }
    return traceparent === undefined ? event : { ...event, traceparent }
  }
  const [fault] = Value.Errors(PublicEventMessage, parsed)
  return { reason: `the message is not a public event: ${fault?.path ?? ''} ${fault?.message ?? ''}`.trim() }
}

function parse(value: Buffer | null): unknown {
  try {
    return JSON.parse(value?.toString('utf8') ?? '')
  } catch {
    return undefined
  }
}

/** One batch to one partition is subject to the broker's limit of 1 MB. */
const bytesMax = 500_000

/** Splits messages, in order, into batches that a broker accepts. */
export function batches(messages: readonly Message[]): readonly Message[][] {
  const all: Message[][] = []
  let bytes = bytesMax
  for (const message of messages) {
    const size = Buffer.byteLength(message.value)
    if (bytes + size > bytesMax) {
      all.push([])
      bytes = 0
    }
    all.at(-1)!.push(message)
    bytes += size
  }
  return all
}
