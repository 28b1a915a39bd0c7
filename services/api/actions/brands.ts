import type { Dependencies } from '../../../packages/contract/routes.ts'
import { branding, brandingId } from '../../../packages/domain/branding/branding.ts'
import { merchant } from '../../../packages/domain/merchants/merchant.ts'
import { readState } from '../../../packages/kernel/history.ts'
import type { MerchantOwner } from '../../../packages/kernel/owner.ts'

/** How pages for payers look like their merchant. */
export interface Brand {
  readonly name: string
  readonly logo_url: string | null
  readonly accent_color: string | null
}

export async function brandOf({ store }: Pick<Dependencies, 'store'>, owner: MerchantOwner): Promise<Brand> {
  const [state, { accentColor }] = await Promise.all([
    readState(store, merchant, owner.merchant),
    readState(store, branding, brandingId(owner)),
  ])
  return { name: state.status === 'none' ? '' : state.name, logo_url: null, accent_color: accentColor }
}
