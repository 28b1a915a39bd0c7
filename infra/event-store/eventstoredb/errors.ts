import { ErrorType, isCommandError } from '@eventstore/db-client'

/** After these answers to an append nothing was written; all other errors leave open what happened. */
const refusals: readonly string[] = [
  ErrorType.ACCESS_DENIED,
  ErrorType.STREAM_DELETED,
  ErrorType.INVALID_ARGUMENT,
  ErrorType.INVALID_TRANSACTION,
  ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED,
  ErrorType.MISSING_REQUIRED_METADATA_PROPERTY,
]
/** The gRPC codes INVALID_ARGUMENT, PERMISSION_DENIED and UNIMPLEMENTED: some come without a type. */
const refusalCodes: readonly unknown[] = [3, 7, 12]

export function isOfType(error: unknown, type: ErrorType): boolean {
  return error instanceof Error && isCommandError(error) && error.type === type
}

export function wasRefused(error: unknown): boolean {
  if (!(error instanceof Error) || !isCommandError(error)) return false
  return refusals.includes(error.type) || refusalCodes.includes(error.code)
}

export function timedOut(timeoutMs: number): Error {
  return new Error(`EventStoreDB gave no answer within ${timeoutMs} ms`)
}

/** The client's own time-outs do not cover all, for example not the search for the leader of a cluster. */
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
