import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { ServerWritableStream } from '@grpc/grpc-js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { LogRecord } from './append-rules.ts'
import type { Log } from './log.ts'
import { cutOffLive, invalid, invalidPosition, streamDeleted, type Failure } from './failures.ts'
import {
  caughtUpAnswer,
  checkpointAnswer,
  confirmationAnswer,
  eventAnswer,
  filterOf,
  notFoundAnswer,
  streamName,
} from './messages.ts'

export type ReadCall = ServerWritableStream<streams.ReadReq, streams.ReadResp>
export type OnSent = (message: streams.ReadResp) => void

export interface Watching {
  readonly onSent: OnSent
  /** While it is true, nothing new is sent. */
  readonly isHeldBack: () => boolean
}

/** Records that a subscription reads at once while it catches up, as in EventStoreDB. */
const pageSize = 32
const backwards = 1

/** A call being answered. It waits for a client that reads more slowly than the server writes. */
class Outlet {
  readonly #call: ReadCall
  readonly #onSent: OnSent
  #full = false
  #wake = () => {}

  constructor(call: ReadCall, onSent: OnSent = () => {}) {
    this.#call = call
    this.#onSent = onSent
    for (const event of ['cancelled', 'finish', 'close']) call.on(event, () => this.wake())
    call.on('drain', () => {
      this.#full = false
      this.wake()
    })
  }

  get isFull(): boolean {
    return this.#full
  }

  get open(): boolean {
    return !this.#call.cancelled && !this.#call.writableEnded && !this.#call.destroyed
  }

  async send(message: streams.ReadResp): Promise<void> {
    await this.waitWhile(() => this.#full)
    if (!this.open) return
    this.#full = !this.#call.write(message)
    this.#onSent(message)
  }

  /** Until the condition no longer holds, or the call is over. */
  async waitWhile(condition: () => boolean): Promise<void> {
    while (this.open && condition()) await new Promise<void>((wake) => (this.#wake = wake))
  }

  wake(): void {
    this.#wake()
  }
}

/** Answers a read that ends: of one stream or of $all, in either direction. */
export async function answerRead(call: ReadCall, log: Log): Promise<void> {
  const options = optionsOf(call)
  const outlet = new Outlet(call)
  if (options.hasStream()) return answerStreamRead(call, log, outlet)
  return answerLogRead(call, log, outlet)
}

/**
 * Step by step until it has enough or the log ends, without a word about how far it has looked. A filtered
 * read only notices that it has enough when it finds one more.
 */
async function answerLogRead(call: ReadCall, log: Log, outlet: Outlet): Promise<void> {
  const options = optionsOf(call)
  const isBackwards = Number(options.getReadDirection()) === backwards
  const search = { window: windowOf(options), backwards: isBackwards, matches: filterOf(options) }
  let left = Number(options.getCount())
  let inVain = 0
  for (let from: number | undefined = placeOf(options); from !== undefined && outlet.open;) {
    const count = Math.min(pageSize, Math.max(left, 1))
    const { found, considered, next }: ReturnType<Log['search']> = log.search(from, { ...search, count })
    if (left === 0 && found.length > 0) break
    for (const record of found) await outlet.send(eventAnswer(record))
    left -= found.length
    if (left === 0 && !options.hasFilter()) break
    inVain = found.length > 0 ? 0 : inVain + considered
    await outlet.waitWhile(() => inVain > log.stallsAfter)
    from = next
    await setImmediate()
  }
  call.end()
}

/** Piece by piece, so that a stream may change meanwhile. */
async function answerStreamRead(call: ReadCall, log: Log, outlet: Outlet): Promise<void> {
  const options = optionsOf(call)
  const stream = streamName(options.getStream()?.getStreamIdentifier())
  for (let sent = 0; outlet.open;) {
    const found = log.read(stream)
    if (found === 'deleted') return void call.emit('error', streamDeleted(stream))
    if (found === 'not found') {
      await outlet.send(notFoundAnswer(stream))
      break
    }
    const most = Math.min(pageSize, Number(options.getCount()) - sent)
    const page = fromRevision(found, options, sent).slice(0, most)
    for (const record of page) await outlet.send(eventAnswer(record))
    sent += page.length
    if (page.length < pageSize) break
  }
  call.end()
}

/** Buffer of a live subscriber; the server cuts off slower ones. */
const waitingMost = 64

/** Answers a subscription to $all, which ends only when one of the two sides wants it to. */
export async function answerSubscription(
  call: ReadCall,
  log: Log,
  { onSent, isHeldBack }: Watching,
): Promise<void> {
  const options = optionsOf(call)
  const outlet = new Outlet(call, onSent)
  const unwatch = log.watch(() => outlet.wake())
  const matches = filterOf(options)
  const checkpointEvery = checkpointIntervalOf(options)
  let position = behindFirstMatch(log, subscriptionStart(call, log), options)
  let considered = 0
  let live = false
  const isTooSlow = () => live && outlet.isFull && log.hasMoreAfter(position, waitingMost, matches)
  await outlet.send(confirmationAnswer(randomUUID()))
  while (outlet.open) {
    const page = log.after(position, live ? pageSize : windowOf(options))
    let searched = page[0]?.position
    for (const record of page) {
      await outlet.waitWhile(() => outlet.isFull && !isTooSlow())
      if (isTooSlow()) {
        call.emit('error', cutOffLive)
        return unwatch()
      }
      if (matches(record)) await outlet.send(eventAnswer(record))
      position = record.position
      if (live || matches(record)) searched = position
      considered += 1
      log.searched++
    }
    if (considered >= checkpointEvery && searched !== undefined) {
      considered %= checkpointEvery
      await outlet.send(checkpointAnswer(searched))
    }
    if (!live) await setImmediate()
    if (page.length > 0) continue
    if (!live) await outlet.send(caughtUpAnswer())
    live = true
    await outlet.waitWhile(() => isHeldBack() || log.after(position, 1).length === 0)
  }
  unwatch()
}

/**
 * Where EventStoreDB 23.10 begins: it looks for the first event that matches, in one window, and goes on
 * behind it. An event that stands behind a start that does not match itself is never sent.
 */
function behindFirstMatch(log: Log, start: number, options: streams.ReadReq.Options): number {
  if (!options.getAll()?.hasPosition()) return start
  const search = { count: 1, window: windowOf(options), backwards: false, matches: filterOf(options) }
  const { considered } = log.search(start, search)
  return log.after(start - 1, considered).at(-1)?.position ?? start
}

/** Records that a filtered read looks at in one step. */
function windowOf(options: streams.ReadReq.Options): number {
  const filter = options.getFilter()
  return filter?.hasMax() ? filter.getMax() : pageSize
}

function optionsOf(call: ReadCall): streams.ReadReq.Options {
  return call.request.getOptions() ?? new streams.ReadReq.Options()
}

/** Subscriptions without a filter have no checkpoints. */
function checkpointIntervalOf(options: streams.ReadReq.Options): number {
  const filter = options.getFilter()
  return filter ? windowOf(options) * filter.getCheckpointintervalmultiplier() : Infinity
}

type Records = readonly LogRecord[]

/** Hidden events are left out: a read from revision 0 begins with the first visible one. */
function fromRevision(records: Records, options: streams.ReadReq.Options, sent: number): Records {
  const ofStream = options.getStream()
  if (Number(options.getReadDirection()) === backwards) return records.toReversed().slice(sent)
  const from = sent + (ofStream?.hasRevision() ? Number(ofStream.getRevision()) : 0)
  return records.filter(({ revision }) => revision >= from)
}

/** Reading forwards includes the record at the position, reading backwards does not. */
function placeOf(options: streams.ReadReq.Options): number {
  const all = options.getAll()
  const start = all?.getPosition()
  return start ? Number(start.getCommitPosition()) : all?.hasEnd() ? Infinity : 0
}

/** What is wrong with a request, as the server would find it. */
export function refusalOf(call: ReadCall, log: Log): Failure | undefined {
  const options = optionsOf(call)
  const filter = options.getFilter()
  const expression = filter?.getStreamIdentifier() ?? filter?.getEventType()
  const isBackwards = Number(options.getReadDirection()) === backwards
  if (!options.hasUuidOption()) return invalid('UuidOption is required')
  if (!options.hasStream() && !options.hasAll()) return invalid('StreamOption is required')
  if (!options.hasCount() && !options.hasSubscription()) return invalid('CountOption is required')
  if (!options.hasFilter() && !options.hasNoFilter()) return invalid('FilterOption is required')
  if (options.hasFilter() && options.hasStream()) return invalid('streams have no filters')
  if (options.hasSubscription() && isBackwards) return invalid('subscriptions go forwards')
  if (filter && !filter.hasMax() && !filter.hasCount()) return invalid('Window is required')
  if (filter && !expression?.getRegex() && expression?.getPrefixList().length === 0)
    return invalid('Filter is required')
  const start = options.getAll()?.getPosition()
  if (start && !log.mayBeReadFrom(Number(start.getCommitPosition()))) return invalidPosition
  return undefined
}

/** A subscription starts after this position: -1 for the start of the log, whose first record is at 0. */
export function subscriptionStart(call: ReadCall, log: Log): number {
  const all = optionsOf(call).getAll()
  if (all?.hasEnd()) return log.records.at(-1)?.position ?? -1
  const start = all?.getPosition()
  return start ? Number(start.getCommitPosition()) : -1
}
