import protobuf from 'protobufjs/minimal.js'

/**
 * Decodes what the server sends to readers by hand: the client's own library builds an object for each field
 * and a string for each number (field numbers: ReadResp of EventStoreDB's streams.proto).
 */

const { Reader } = protobuf

/** An event as the server stores it, not yet interpreted. */
export interface ServerEvent {
  readonly stream: string
  readonly revision: number
  /** Its position in the server's log. */
  readonly commit: number
  readonly id: string
  readonly type: string
  readonly isJson: boolean
  readonly data: Uint8Array
  readonly metadata: Uint8Array
}

/**
 * A number is the place up to which a subscription has searched; `other` is of interest to the protocol only.
 */
export type ReadAnswer = ServerEvent | number | 'not found' | 'confirmed' | 'caught up' | 'other'

type In = protobuf.Reader

/** A 64-bit value, rounded where it exceeds the safe integers. */
export function numberOf(bits: object): number {
  // The library has no types for modules of this kind.
  return (bits as { toNumber(): number }).toNumber()
}

export function decodeReadAnswer(bytes: Buffer): ReadAnswer {
  const reader = Reader.create(bytes)
  let answer: ReadAnswer = 'other'
  while (reader.pos < reader.len) {
    const tag = reader.uint32()
    if (tag === 10) answer = readEvent(reader) ?? answer
    else if (tag === 26) answer = readCheckpoint(reader)
    else {
      if (tag === 18) answer = 'confirmed'
      if (tag === 34) answer = 'not found'
      if (tag === 66) answer = 'caught up'
      reader.skipType(tag & 7)
    }
  }
  return answer
}

function endOf(reader: In): number {
  const length = reader.uint32()
  return reader.pos + length
}

/** Links are never resolved, so the only event comes first. */
function readEvent(reader: In): ServerEvent | undefined {
  const end = endOf(reader)
  let event: ServerEvent | undefined
  while (reader.pos < end) {
    const tag = reader.uint32()
    if (tag === 10) event = recordedEvent(reader)
    else reader.skipType(tag & 7)
  }
  return event
}

/** Its commit position. */
function readCheckpoint(reader: In): number {
  const end = endOf(reader)
  let commit = 0
  while (reader.pos < end) {
    const tag = reader.uint32()
    if (tag === 8) commit = numberOf(reader.uint64())
    else reader.skipType(tag & 7)
  }
  return commit
}

const nothing = new Uint8Array(0)

function recordedEvent(reader: In): ServerEvent {
  const end = endOf(reader)
  const kind = { type: '', contentType: '' }
  let [id, stream, revision, commit] = ['', '', 0, 0]
  let [data, metadata]: [Uint8Array, Uint8Array] = [nothing, nothing]
  while (reader.pos < end) {
    const tag = reader.uint32()
    if (tag === 10) id = textAt(reader, 18)
    else if (tag === 18) stream = textAt(reader, 26)
    else if (tag === 24) revision = numberOf(reader.uint64())
    else if (tag === 40) commit = numberOf(reader.uint64())
    else if (tag === 50) readEntry(reader, kind)
    else if (tag === 58) metadata = reader.bytes()
    else if (tag === 66) data = reader.bytes()
    else reader.skipType(tag & 7)
  }
  const { type, contentType } = kind
  return { stream, revision, commit, id, type, isJson: contentType === 'application/json', data, metadata }
}

/** The string field of a message that has just this one. */
function textAt(reader: In, field: number): string {
  const end = endOf(reader)
  let text = ''
  while (reader.pos < end) {
    const tag = reader.uint32()
    if (tag === field) text = reader.string()
    else reader.skipType(tag & 7)
  }
  return text
}

function readEntry(reader: In, kind: { type: string; contentType: string }): void {
  const end = endOf(reader)
  let key = ''
  while (reader.pos < end) {
    const tag = reader.uint32()
    if (tag === 10) key = reader.string()
    else if (tag === 18 && key === 'type') kind.type = reader.string()
    else if (tag === 18 && key === 'content-type') kind.contentType = reader.string()
    else reader.skipType(tag & 7)
  }
}
