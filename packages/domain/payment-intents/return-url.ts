import { publicId } from '../../contract/identity.ts'
import type { Attempt } from './state.ts'

/** Spec, Return URL rules 1: the merchant's URL when there is one, else our page about the operation. */
export function returnUrlOf({ returnUrl, statusUrl }: Attempt): string {
  return returnUrl ?? statusUrl
}

export interface Outcome {
  readonly status: string
  readonly paymentIntent: string
  readonly operationId: string
}

/**
 * Spec, Return URL rules 2: the same URL for every outcome, with three query parameters. Null for a URL that
 * no browser can open: some were stored before such URLs were refused.
 */
export function returnAddress(
  returnUrl: string,
  { status, paymentIntent, operationId }: Outcome,
): string | null {
  if (!URL.canParse(returnUrl)) return null
  const address = new URL(returnUrl)
  address.searchParams.set('status', status)
  address.searchParams.set('payment_intent', publicId('pi', paymentIntent))
  address.searchParams.set('operation_id', publicId('op', operationId))
  return address.toString()
}
