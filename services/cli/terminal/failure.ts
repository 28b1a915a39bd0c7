/** An error that the user can fix: shown as one sentence, with exit code 2. */
export class CommandFailedError extends Error {
  override readonly name = 'CommandFailedError'
}

/** Exit codes. */
export const exitCodes = {
  /** Differences or violations were found. */
  found: 1,
  /** Nothing was done: invalid arguments, or something required is missing. */
  cannot: 2,
} as const
