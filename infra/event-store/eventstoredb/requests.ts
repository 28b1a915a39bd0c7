import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { NameFilter } from './streams/names.ts'

/** Read requests as messages of the server's protocol. */

type ReadReq = streams.ReadReq
type Options = streams.ReadReq.Options

const { ReadReq } = streams
const { Options } = ReadReq
const { Empty, StreamIdentifier } = shared
/** How many events the server scans per step of a filtered read. */
export const searchWindow = 500

/** A position in the log: reading forwards includes the event there, reading backwards does not. */
export type LogPosition = number | 'start' | 'end'

/** 0 is the start of the log. */
export function startOf(commit: number): LogPosition {
  return commit > 0 ? commit : 'start'
}

export interface LogPage {
  readonly from: LogPosition
  readonly filter?: NameFilter
  readonly count: number
  readonly backwards?: boolean
}

export interface StreamPage {
  /** Its name on the server. */
  readonly stream: string
  readonly from: number
  readonly count: number
}

export function readLog({ from, filter, count, backwards = false }: LogPage): ReadReq {
  const options = inLog(from, filter).setCount(String(count))
  if (backwards) options.setReadDirection(Options.ReadDirection.BACKWARDS)
  return new ReadReq().setOptions(options)
}

/**
 * All events after a place, and what follows. A server up to 23.10 first looks for one event that matches,
 * within one window, and begins behind it: after a place that does not match itself, that one is never sent.
 */
export function followLog(after: LogPosition, filter: NameFilter): ReadReq {
  const options = inLog(after, filter)
  return new ReadReq().setOptions(options.setSubscription(new Options.SubscriptionOptions()))
}

export function readStream({ stream, from, count }: StreamPage): ReadReq {
  const place = new Options.StreamOptions().setStreamIdentifier(identifier(stream)).setRevision(String(from))
  return new ReadReq().setOptions(plain().setStream(place).setNoFilter(new Empty()).setCount(String(count)))
}

export function readNewest(stream: string): ReadReq {
  const place = new Options.StreamOptions().setStreamIdentifier(identifier(stream)).setEnd(new Empty())
  const options = plain().setStream(place).setNoFilter(new Empty()).setCount('1')
  return new ReadReq().setOptions(options.setReadDirection(Options.ReadDirection.BACKWARDS))
}

function plain(): Options {
  const uuids = new Options.UUIDOption().setString(new Empty())
  return new Options().setResolveLinks(false).setUuidOption(uuids)
}

function inLog(from: LogPosition, filter: NameFilter | undefined): Options {
  const options = plain().setAll(place(from))
  return filter ? options.setFilter(byName(filter)) : options.setNoFilter(new Empty())
}

/** An event written through gRPC has the same commit and prepare position. */
function place(from: LogPosition): streams.ReadReq.Options.AllOptions {
  const all = new Options.AllOptions()
  if (from === 'start') return all.setStart(new Empty())
  if (from === 'end') return all.setEnd(new Empty())
  const position = new Options.Position()
  position.setCommitPosition(String(from)).setPreparePosition(String(from))
  return all.setPosition(position)
}

function byName(filter: NameFilter): streams.ReadReq.Options.FilterOptions {
  const expression = new Options.FilterOptions.Expression()
  if ('prefixes' in filter) expression.setPrefixList([...filter.prefixes])
  else expression.setRegex(filter.regex)
  const options = new Options.FilterOptions().setStreamIdentifier(expression)
  return options.setMax(searchWindow).setCheckpointintervalmultiplier(1)
}

function identifier(stream: string): shared.StreamIdentifier {
  return new StreamIdentifier().setStreamName(Buffer.from(stream))
}
