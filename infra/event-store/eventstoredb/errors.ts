import { setTimeout as pause } from 'node:timers/promises'
import { ErrorType, isCommandError } from '@eventstore/db-client'
import { StoreAwayError } from '../../../packages/kernel/ports.ts'

/** After these answers to an append nothing was written; after any other error the outcome is unknown. */
const refusals: readonly string[] = ['AccessDenied', 'BadRequest', 'InvalidTransaction']
/** Codes of gRPC. */
const codes = { invalidArgument: 3, permissionDenied: 7, unimplemented: 12, unauthenticated: 16 } as const
/** CANCELLED, DEADLINE_EXCEEDED, ABORTED (a time-out of the server), UNAVAILABLE. */
const awayCodes: readonly unknown[] = [1, 4, 10, 14]
/** What the client says without a code, and the server without one of these. */
const awayMessage = /Failed to discover|NotReady|Not Ready|TooBusy|gave no answer within|has ended the call/

/** How long a read is retried when it meets a change of leader or a starting server. */
const patienceMs = 2_000
const repeatMs = { first: 20, most: 250 }

/** The URL's user lacks a permission: reported at the start, waited for while running. */
export class EventStoreRightsError extends StoreAwayError {
  override readonly name: string = 'EventStoreRightsError'
  override readonly mayPass: boolean = false

  constructor(sentence: string, cause?: unknown) {
    super(cause)
    this.message = sentence
  }
}

/** `what` is a sentence as far as the user who may not do it. */
export function rightMissing(what: string, cause?: unknown): EventStoreRightsError {
  const sentence = `${what} the user of EVENTSTORE_URL: see "Rights of the user" in docs/operations.md`
  return new EventStoreRightsError(sentence, cause)
}

export function notLetIn(cause: unknown): EventStoreRightsError {
  const sentence = 'EventStoreDB does not accept the user or the password of EVENTSTORE_URL'
  return new EventStoreRightsError(sentence, cause)
}

export function isOfType(error: unknown, type: ErrorType): boolean {
  return error instanceof Error && isCommandError(error) && error.type === type
}

/** How the server refuses one append. */
export interface AppendRefusal {
  /** Name of the server's message; empty where it has none. */
  readonly type: string
  /** Of gRPC; 0 where the server gives none. */
  readonly code: number
  readonly message: string
}

/** Undefined when the append may have been written. */
export function refusalOfAppend(stream: string, { type, code, message }: AppendRefusal): Error | undefined {
  const isRefused = refusals.includes(type) || code === codes.invalidArgument || code === codes.unimplemented
  const reason = [type, message].filter(Boolean).join(' ')
  return (
    lackOfRight({ code: type === 'AccessDenied' ? codes.permissionDenied : code }) ??
    (isRefused ? new Error(`EventStoreDB does not take an append to ${stream}: ${reason}`) : undefined)
  )
}

/**
 * The same for a call that ends without any answer, after so many appends were sent over it. The server
 * refuses all that follows, but what is invalid is one of them: others may have been written.
 */
export function refusalOfCall(error: unknown, sent = 1): Error | undefined {
  const code = codeOf(error)
  const isRefused = code === codes.unimplemented || (code === codes.invalidArgument && sent <= 1)
  if (!isRefused) return lackOfRight(error)
  return new Error(`EventStoreDB does not take appends: ${(error as Error).message}`, { cause: error })
}

function lackOfRight(error: unknown): EventStoreRightsError | undefined {
  if (isUnauthenticated(error)) return notLetIn(error)
  return isForbidden(error) ? rightMissing('streams may not be written to by', error) : undefined
}

export function isUnauthenticated(error: unknown): boolean {
  return codeOf(error) === codes.unauthenticated
}

export function isForbidden(error: unknown): boolean {
  return codeOf(error) === codes.permissionDenied || isOfType(error, ErrorType.ACCESS_DENIED)
}

/** True when the server is gone, is starting, or no longer leads. */
export function isAway(error: unknown): boolean {
  if (isOfType(error, ErrorType.NOT_LEADER)) return true
  return awayCodes.includes(codeOf(error)) || (error instanceof Error && awayMessage.test(error.message))
}

/** True when the server has ended a subscription because this process was too slow for it. */
export function isCutOff(error: unknown): boolean {
  return codeOf(error) === 10 && /Consumer too slow/.test((error as Error).message)
}

/** True when the server has nothing that begins at this place of its log. */
export function isInvalidPosition(error: unknown): boolean {
  return error instanceof Error && /invalid position/i.test(error.message)
}

/** Of an error that says that this must not be read. */
export function explained(what: string) {
  return (error: unknown): never => {
    if (isUnauthenticated(error)) throw notLetIn(error)
    if (isForbidden(error)) throw rightMissing(`${what} may not be read by`, error)
    throw error
  }
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | undefined)?.code
}

/** True when the next answer may come from another server, or from one that was restored. */
function isElsewhere(error: unknown): boolean {
  return isOfType(error, ErrorType.NOT_LEADER) || [1, 14].includes(codeOf(error) as number)
}

/** Retries a read, which is harmless, while a cluster changes its leader. */
export async function retryWhileAway<Result>(
  read: () => Promise<Result>,
  onElsewhere: () => void = () => undefined,
): Promise<Result> {
  const since = performance.now()
  for (let delayMs = repeatMs.first; ; delayMs = Math.min(2 * delayMs, repeatMs.most)) {
    try {
      return await read()
    } catch (error) {
      if (!isAway(error)) throw error
      if (isElsewhere(error)) onElsewhere()
      if (performance.now() - since + delayMs > patienceMs) throw new StoreAwayError(error)
      await pause(delayMs)
    }
  }
}

export function timedOut(timeoutMs: number): Error {
  return new Error(`EventStoreDB gave no answer within ${timeoutMs} ms`)
}

/**
 * The client's own time-outs do not cover everything, for example not the search for the leader of a cluster.
 */
export async function within<Result>(
  timeoutMs: number,
  work: Promise<Result>,
  error = timedOut(timeoutMs),
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(error), timeoutMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
