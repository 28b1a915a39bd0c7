import protobuf from 'protobufjs/minimal.js'
import { numberOf } from './read.ts'

/**
 * The two messages of an append, encoded by hand: the client's own library encodes each event twice and its
 * JSON as base64, which is half the cost of an append (field numbers: BatchAppendReq and BatchAppendResp of
 * EventStoreDB's streams.proto, Status of google.rpc).
 */

const { Reader, Writer } = protobuf

/** An event as the server stores it. */
export interface ProposedEvent {
  readonly id: string
  readonly type: string
  /** JSON. */
  readonly data: string
  readonly metadata: string
}

export interface AppendRequest {
  /** Identifies the append in its answer; a safe integer above 0. */
  readonly number: number
  readonly stream: string
  /** -1 when the stream must not exist. */
  readonly expected: number
  readonly events: readonly ProposedEvent[]
}

export interface AppendAnswer {
  readonly number: number
  readonly outcome: AppendOutcome
}

export type AppendOutcome =
  /** `commit` is missing where the server does not say where the events stand. */
  | { readonly kind: 'written'; readonly revision: number; readonly commit: number | undefined }
  /** `type` is the name of the server's message, such as `WrongExpectedVersion`. */
  | { readonly kind: 'failed'; readonly type: string; readonly code: number; readonly message: string }

type Out = protobuf.Writer
type In = protobuf.Reader

const jsonType = 'application/json'

/** Without a deadline: the server would compare it with its own clock, and has limits of its own. */
export function encodeAppend({ number, stream, expected, events }: AppendRequest): Buffer {
  const out = Writer.create()
  out.uint32(10).fork().uint32(10).fork().uint32(16).int64(number).ldelim().ldelim()
  out.uint32(18).fork()
  out.uint32(10).fork().uint32(26).string(stream).ldelim()
  if (expected < 0) out.uint32(26).fork().ldelim()
  else out.uint32(16).uint64(expected)
  out.ldelim()
  for (const event of events) encodeEvent(out, event)
  return out.uint32(32).bool(true).finish() as Buffer
}

function encodeEvent(out: Out, { id, type, data, metadata }: ProposedEvent): void {
  out.uint32(26).fork()
  out.uint32(10).fork().uint32(18).string(id).ldelim()
  encodeEntry(out, 'type', type)
  encodeEntry(out, 'content-type', jsonType)
  // Bytes and strings are encoded alike.
  out.uint32(26).string(metadata)
  out.uint32(34).string(data)
  out.ldelim()
}

function encodeEntry(out: Out, key: string, value: string): void {
  out.uint32(18).fork().uint32(10).string(key).uint32(18).string(value).ldelim()
}

export function decodeAppendAnswer(bytes: Buffer): AppendAnswer {
  const reader = Reader.create(bytes)
  let number = 0
  let outcome: AppendOutcome = { kind: 'failed', type: '', code: 0, message: 'the answer says nothing' }
  while (reader.pos < reader.len) {
    const tag = reader.uint32()
    if (tag === 10) number = nested(reader, correlationOf)
    else if (tag === 18) outcome = nested(reader, failureOf)
    else if (tag === 26) outcome = nested(reader, successOf)
    else reader.skipType(tag & 7)
  }
  return { number, outcome }
}

/** Servers answer with the same UUID, but either as two numbers or as text. */
function correlationOf(reader: In, end: number): number {
  let number = 0
  while (reader.pos < end) {
    const tag = reader.uint32()
    if (tag === 10) number = nested(reader, leastSignificantBits)
    else if (tag === 18) number = parseInt(reader.string().slice(-12), 16)
    else reader.skipType(tag & 7)
  }
  return number
}

function leastSignificantBits(reader: In, end: number): number {
  let bits = 0
  while (reader.pos < end) {
    const tag = reader.uint32()
    if (tag === 16) bits = numberOf(reader.int64())
    else reader.skipType(tag & 7)
  }
  return bits
}

function successOf(reader: In, end: number): AppendOutcome {
  let revision = 0
  let commit: number | undefined
  while (reader.pos < end) {
    const tag = reader.uint32()
    if (tag === 8) revision = numberOf(reader.uint64())
    else if (tag === 26) commit = nested(reader, commitOf)
    else reader.skipType(tag & 7)
  }
  return { kind: 'written', revision, commit }
}

function commitOf(reader: In, end: number): number {
  let commit = 0
  while (reader.pos < end) {
    const tag = reader.uint32()
    if (tag === 8) commit = numberOf(reader.uint64())
    else reader.skipType(tag & 7)
  }
  return commit
}

function failureOf(reader: In, end: number): AppendOutcome {
  let [type, code, message] = ['', 0, '']
  while (reader.pos < end) {
    const tag = reader.uint32()
    if (tag === 8) code = reader.int32()
    else if (tag === 18) message = reader.string()
    else if (tag === 26) type = nested(reader, typeOf)
    else reader.skipType(tag & 7)
  }
  return { kind: 'failed', type, code, message }
}

/**
 * The last part of the name: `WrongExpectedVersion` of
 * `type.googleapis.com/event_store.client.WrongExpectedVersion`.
 */
function typeOf(reader: In, end: number): string {
  let url = ''
  while (reader.pos < end) {
    const tag = reader.uint32()
    if (tag === 10) url = reader.string()
    else reader.skipType(tag & 7)
  }
  return url.slice(url.lastIndexOf('.') + 1)
}

function nested<Result>(reader: In, read: (reader: In, end: number) => Result): Result {
  const length = reader.uint32()
  return read(reader, reader.pos + length)
}
