import type { Word } from '../../packages/domain/refunds/contradictions.ts'
import {
  RailTimeoutError,
  RailUnavailableError,
  type PaymentRail,
  type RailRequest,
  type RailState,
} from '../../packages/kernel/ports/rails.ts'

export interface RefundAttempt {
  readonly request: RailRequest
  /** Nothing can have been submitted yet. */
  readonly isFirstTry: boolean
  /** Asked before the provider is told for the first time. */
  readonly mayStart?: () => Promise<boolean>
}

/**
 * Finds out a refund's result, and submits it if the provider certainly does not have it. `undefined`: the
 * result is unknown, or the provider does nothing now; it is asked again later.
 */
export async function reconcileRefund(
  rail: PaymentRail,
  { request, isFirstTry, mayStart }: RefundAttempt,
): Promise<RailState | undefined> {
  try {
    const known = isFirstTry ? undefined : await rail.status(request.reference, request)
    if (known && known.state !== 'never_received') return known
    if (mayStart && !(await mayStart())) return undefined
    return await rail.submit(request)
  } catch (error) {
    if (error instanceof RailTimeoutError || error instanceof RailUnavailableError) return undefined
    throw error
  }
}

/** What a provider says at last of a refund; `undefined` while it is not over. */
export function wordOf({ state }: RailState): Word | undefined {
  return state === 'succeeded' || state === 'failed' || state === 'returned' ? state : undefined
}
