import { Refusal, refusals } from '../../packages/contract/refusals.ts'
import { OutcomeUnknown, StoreOverloaded } from '../../packages/kernel/ports.ts'
import { RailTimeout, RailUnavailable } from '../../packages/kernel/rail-ports.ts'

/** True for what may work when it is tried again; false for what is wrong with the event or the code. */
export function isPassing(error: unknown): boolean {
  if (error instanceof Refusal) return refusals[error.reason][2]
  if (error instanceof OutcomeUnknown || error instanceof StoreOverloaded) return true
  if (error instanceof RailTimeout || error instanceof RailUnavailable) return true
  const { code, message } = error as { code?: unknown; message?: string }
  // What comes from an engine has a code: Postgres and the network give a text, gRPC a number.
  return code !== undefined || /Connection terminated|connection error|timeout/.test(message ?? '')
}
