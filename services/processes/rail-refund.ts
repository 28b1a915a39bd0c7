import {
  RailTimeoutError,
  RailUnavailableError,
  type PaymentRail,
  type RailRequest,
  type RailState,
} from '../../packages/kernel/rail-ports.ts'

/**
 * Finds out a refund's result, and submits it if the provider certainly does not have it. `undefined`: the
 * result is unknown, or the provider does nothing now; it is asked again later.
 */
export async function reconcileRefund(
  rail: PaymentRail,
  request: RailRequest,
  isFirstTry: boolean,
): Promise<RailState | undefined> {
  try {
    const known = isFirstTry ? undefined : await rail.status(request.reference, request)
    return known && known.state !== 'never_received' ? known : await rail.submit(request)
  } catch (error) {
    if (error instanceof RailTimeoutError || error instanceof RailUnavailableError) return undefined
    throw error
  }
}
