import { STATUS_CODES } from 'node:http'
import type { Problem } from '../../../packages/contract/refusals/problem.ts'
import { Refusal, refusals } from '../../../packages/contract/refusals.ts'
import {
  DamagedStreamError,
  OutcomeUnknownError,
  StoreOverloadedError,
} from '../../../packages/kernel/ports.ts'
import { GoogleAwayError, PasswordsBusyError } from '../../../packages/kernel/ports/credentials.ts'
import { ReadTimeoutError, ShareExhaustedError } from '../../../packages/kernel/ports/reads.ts'
import { RailTimeoutError, RailUnavailableError } from '../../../packages/kernel/ports/rails.ts'
import { isPassing } from '../../composition/observing/failures.ts'

/** The request that was refused. */
export interface ProblemContext {
  /** Base URL of the pages about codes. */
  readonly baseUrl: string
  readonly instance: string
  readonly requestId: string
}

export function problem(refusal: Refusal, place: ProblemContext): Problem {
  const [status, code, retryable, message] = refusals[refusal.reason]
  const errors = [...(refusal.details.faults ?? [])]
  return {
    type: `${place.baseUrl}/docs/errors#${code}`,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: refusal.message,
    instance: place.instance,
    code,
    message,
    retryable,
    param: errors[0]?.pointer ?? null,
    errors,
    request_id: place.requestId,
  }
}

/**
 * Maps a thrown error to what the client sees. Anything that is not a refusal is a bug, or a dependency that
 * failed.
 */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof StoreOverloadedError || error instanceof PasswordsBusyError)
    return new Refusal('service_must_not_be_overloaded', { retryAfterSeconds: 1 })
  if (error instanceof ShareExhaustedError)
    return new Refusal('rate_must_be_within_the_limit', { retryAfterSeconds: 1 })
  if (error instanceof ReadTimeoutError)
    return new Refusal('read_must_not_take_too_long', { retryAfterSeconds: 1 })
  if (error instanceof OutcomeUnknownError || error instanceof RailTimeoutError)
    return new Refusal('dependency_must_answer_in_time')
  if (error instanceof RailUnavailableError || error instanceof GoogleAwayError)
    return new Refusal('dependency_must_be_available', { retryAfterSeconds: 5 })
  if (error instanceof DamagedStreamError) return new Refusal('history_must_be_whole')
  // A full disk too: whoever sends it again with the same key loses nothing.
  return isPassing(error)
    ? new Refusal('dependency_must_be_available', { retryAfterSeconds: 1 })
    : new Refusal('service_must_not_fail')
}
