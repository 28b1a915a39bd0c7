/** What the caller can put right: it is said in one sentence, and the exit code is 2. */
export class CommandFailedError extends Error {
  override readonly name = 'CommandFailedError'
}

/** What a command ends with. */
export const exitCodes = {
  /** Differences or violations were found. */
  found: 1,
  /** Nothing was done: wrong arguments, or something that is needed is not there. */
  cannot: 2,
} as const
