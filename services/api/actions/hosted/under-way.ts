import { Refusal, type RefusalName } from '../../../../packages/contract/refusals.ts'

/** Somebody else has begun to pay the same meanwhile, or has paid it. */
const races: readonly RefusalName[] = [
  'confirmation_must_be_the_only_one',
  'resource_must_not_have_changed',
  'invoice_state_must_allow_it',
  'wallet_must_cover_the_amount',
]

/** A page on which nothing is under way yet shows nobody what has become of pressing. */
export function ifUnderWay<View extends { readonly payment_status: string }>(view: View): View | undefined {
  return view.payment_status === 'unpaid' ? undefined : view
}

/** Whoever presses at the same time as another tab sees the one payment that is under way, and no refusal. */
export async function orWhatIsUnderWay<View>(
  pay: () => Promise<View>,
  underWay: () => Promise<View | undefined>,
): Promise<View> {
  try {
    return await pay()
  } catch (error) {
    const isRace = error instanceof Refusal && races.includes(error.reason)
    const view = isRace ? await underWay() : undefined
    if (view === undefined) throw error
    return view
  }
}
