import { isPassingSqlState } from '../../infra/postgres/client/failures.ts'
import { Refusal, refusals } from '../../packages/contract/refusals.ts'
import { OutcomeUnknownError, StoreAwayError, StoreOverloadedError } from '../../packages/kernel/ports.ts'
import { RailTimeoutError, RailUnavailableError } from '../../packages/kernel/rail-ports.ts'
import { LeadershipLostError } from '../../infra/postgres/consumers/fence.ts'

/**
 * True for what is known to pass: it may work when it is tried again. Everything else is wrong with the event
 * or the code, and trying again would only keep the others waiting.
 */
export function isPassing(error: unknown): boolean {
  if (error instanceof Refusal) return refusals[error.reason][2]
  if (passingErrors.some((kind) => error instanceof kind)) return true
  const { code } = error as { code?: unknown }
  return isPassingSqlState(code) || passingGrpcCodes.includes(code) || isAway(error)
}

const passingErrors = [
  OutcomeUnknownError,
  StoreOverloadedError,
  StoreAwayError,
  RailTimeoutError,
  RailUnavailableError,
  LeadershipLostError,
]

/**
 * CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, INTERNAL, UNAVAILABLE: what
 * EventStoreDB answers while a connection breaks, it is full, or its leader changes.
 */
const passingGrpcCodes: readonly unknown[] = [1, 2, 4, 8, 10, 13, 14]

/** True when an engine cannot be reached, shuts down or is silent: nothing is wrong with what was asked. */
export function isAway(error: unknown): boolean {
  if (error instanceof StoreAwayError) return true
  const { code, message = '' } = error as { code?: unknown; message?: string }
  return (typeof code === 'string' && awayCode.test(code)) || awayMessage.test(message)
}

/** Of Postgres: no connection, no room for one more, operator intervention. Of the network: no way. */
const awayCode = new RegExp(
  '^(08...|53300|57P0.|ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ENOENT|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|' +
    'EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|EMFILE|ENFILE|' +
    'UND_ERR_(CONNECT_TIMEOUT|HEADERS_TIMEOUT|BODY_TIMEOUT|SOCKET))$',
)

/** What the clients of Postgres and of EventStoreDB and its adapter say without a code. */
const awayMessage =
  /Connection terminated|connection error|timeout exceeded when trying to connect|timeout expired|Query read timeout|^14 UNAVAILABLE|^4 DEADLINE_EXCEEDED|gave no answer within/
