import { Refusal, refusals } from '../../packages/contract/refusals.ts'
import { OutcomeUnknownError, StoreOverloadedError } from '../../packages/kernel/ports.ts'
import { RailTimeoutError, RailUnavailableError } from '../../packages/kernel/rail-ports.ts'

/** True for what may work when it is tried again; false for what is wrong with the event or the code. */
export function isPassing(error: unknown): boolean {
  if (error instanceof Refusal) return refusals[error.reason][2]
  if (error instanceof OutcomeUnknownError || error instanceof StoreOverloadedError) return true
  if (error instanceof RailTimeoutError || error instanceof RailUnavailableError) return true
  // What comes from an engine has a code: Postgres and the network give a text, gRPC a number.
  return (error as { code?: unknown }).code !== undefined || isAway(error)
}

/** True when an engine cannot be reached, shuts down or is silent: nothing is wrong with what was asked. */
export function isAway(error: unknown): boolean {
  const { code, message = '' } = error as { code?: unknown; message?: string }
  return (typeof code === 'string' && awayCode.test(code)) || awayMessage.test(message)
}

/** Of Postgres: no connection, no room for one more, operator intervention. Of the network: no way. */
const awayCode =
  /^(08...|53300|57P0.|ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH)$/

/** What the clients of Postgres and of EventStoreDB and its adapter say without a code. */
const awayMessage =
  /Connection terminated|connection error|timeout exceeded when trying to connect|timeout expired|Query read timeout|^14 UNAVAILABLE|^4 DEADLINE_EXCEEDED|gave no answer within/
