import { setTimeout as pause } from 'node:timers/promises'
import { ErrorType, isCommandError } from '@eventstore/db-client'
import { StoreAwayError } from '../../../packages/kernel/ports.ts'

/** After these answers to an append nothing was written; after any other error the outcome is unknown. */
const refusals: readonly string[] = ['AccessDenied', 'BadRequest', 'InvalidTransaction']
/** Codes of gRPC: INVALID_ARGUMENT, PERMISSION_DENIED, UNIMPLEMENTED, UNAUTHENTICATED. */
const refusalCodes: readonly unknown[] = [3, 7, 12, 16]
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

export function isOfType(error: unknown, type: ErrorType): boolean {
  return error instanceof Error && isCommandError(error) && error.type === type
}

/** The error of one append, by the name of its message. */
export function isRefusal(type: string): boolean {
  return refusals.includes(type)
}

/** The error of a whole call. */
export function wasRefused(error: unknown): boolean {
  return refusalCodes.includes(codeOf(error)) || isOfType(error, ErrorType.ACCESS_DENIED)
}

export function isUnauthenticated(error: unknown): boolean {
  return codeOf(error) === 16
}

export function isForbidden(error: unknown): boolean {
  return codeOf(error) === 7 || isOfType(error, ErrorType.ACCESS_DENIED)
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

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | undefined)?.code
}

/** Retries a read, which is harmless, while a cluster changes its leader. */
export async function retryWhileAway<Result>(read: () => Promise<Result>): Promise<Result> {
  const since = performance.now()
  for (let delayMs = repeatMs.first; ; delayMs = Math.min(2 * delayMs, repeatMs.most)) {
    try {
      return await read()
    } catch (error) {
      if (!isAway(error)) throw error
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
export async function within<Result>(timeoutMs: number, work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timedOut(timeoutMs)), timeoutMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
