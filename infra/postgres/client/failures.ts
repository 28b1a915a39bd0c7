/** SQLSTATEs, by class or code: appendix A of PostgreSQL's manual. */

/**
 * Connection lost, resources exhausted, a conflicting transaction, cancelled by an operator or a time-out, a
 * failing disk, a server demoted to standby: the same statement may work later.
 */
const passing = /^(08...|25006|25P0[34]|40...|53...|55P03|57014|57P0.|58...)$/

/** Values that do not fit, violated constraints, exceeded limits: the same rows will fail again. */
const ofData = /^(21000|22...|23...|54...)$/

export function isPassingSqlState(code: unknown): boolean {
  return typeof code === 'string' && passing.test(code)
}

/** True when rows were refused because of their contents, by PostgreSQL or on their way to it. */
export function isDataFailure(error: unknown): boolean {
  if (error instanceof RangeError || error instanceof TypeError) return !('code' in error)
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && ofData.test(code)
}
