import type { Dependencies } from '../../packages/contract/routes.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { readState } from '../../packages/kernel/history.ts'

/** A merchant as it is now. Throws when there is none: timers and policies are only about those there are. */
export async function existingMerchant({ store }: Pick<Dependencies, 'store'>, id: string) {
  const state = await readState(store, merchant, id)
  if (state.status === 'none') throw new Error(`merchant ${id} does not exist`)
  return state
}
