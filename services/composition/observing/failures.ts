import { isPassingSqlState } from '../../../infra/postgres/client/failures.ts'
import { Refusal, refusals } from '../../../packages/contract/refusals.ts'
import { OutcomeUnknownError, StoreAwayError, StoreOverloadedError } from '../../../packages/kernel/ports.ts'
import { RailTimeoutError, RailUnavailableError } from '../../../packages/kernel/ports/rails.ts'
import { LeadershipLostError } from '../../../infra/postgres/consumers/fence.ts'

/**
 * True for failures known to be transient: a retry may work. Everything else is a fault of the event or the
 * code, and retrying would only delay others.
 */
export function isPassing(error: unknown): boolean {
  if (error instanceof Refusal) return refusals[error.reason][2]
  if (passingErrors.some((kind) => error instanceof kind)) return true
  const { code } = error as { code?: unknown }
  return isPassingSqlState(code) || passingGrpcCodes.includes(code) || isAway(error)
}

/** What must be there before is on its way. */
export class NotYetError extends Error {
  override readonly name = 'NotYetError'
}

/**
 * Passing, and of this one thing alone: somebody outside is silent, or something is not there yet. All others
 * go on meanwhile.
 */
export function isOfItsOwn(error: unknown): boolean {
  if (error instanceof Refusal) return isPassing(error)
  return [RailTimeoutError, RailUnavailableError, NotYetError].some((kind) => error instanceof kind)
}

const passingErrors = [
  OutcomeUnknownError,
  StoreOverloadedError,
  StoreAwayError,
  RailTimeoutError,
  RailUnavailableError,
  LeadershipLostError,
  NotYetError,
]

/**
 * CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, INTERNAL, UNAVAILABLE: what
 * EventStoreDB returns while a connection breaks, it is overloaded, or its leader changes.
 */
const passingGrpcCodes: readonly unknown[] = [1, 2, 4, 8, 10, 13, 14]

/** True when an engine cannot be reached, is shutting down or is silent: the request itself was fine. */
export function isAway(error: unknown): boolean {
  if (error instanceof StoreAwayError) return true
  const { code, message = '', syscall } = error as { code?: unknown; message?: string; syscall?: unknown }
  // The socket of a PostgreSQL that is not up; any other file that is missing stays missing.
  if (code === 'ENOENT') return syscall === 'connect'
  return (typeof code === 'string' && awayCode.test(code)) || awayMessage.test(message)
}

/**
 * PostgreSQL: connection failures, too many connections, operator intervention. Network: unreachable. This
 * machine: want of files, and of what a thread begins with.
 */
const awayCode = new RegExp(
  '^(08...|53300|57P0.|ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|' +
    'EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|EMFILE|ENFILE|' +
    'ERR_WORKER_(INIT_FAILED|OUT_OF_MEMORY)|' +
    'UND_ERR_(CONNECT_TIMEOUT|HEADERS_TIMEOUT|BODY_TIMEOUT|SOCKET))$',
)

/** Errors of the PostgreSQL and EventStoreDB clients that have no code. */
const awayMessage =
  /Connection terminated|connection error|timeout exceeded when trying to connect|timeout expired|Query read timeout|^14 UNAVAILABLE|^4 DEADLINE_EXCEEDED|gave no answer within/
