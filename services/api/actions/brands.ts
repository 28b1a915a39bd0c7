import type { PayersMerchant } from '../../../packages/contract/payers-merchant.ts'
import type { Dependencies } from '../../../packages/contract/routes.ts'
import type { Static } from '../../../packages/contract/vocabulary.ts'
import { branding, brandingId } from '../../../packages/domain/branding/branding.ts'
import { merchant } from '../../../packages/domain/merchants/merchant.ts'
import { readState } from '../../../packages/kernel/history.ts'
import type { MerchantOwner } from '../../../packages/kernel/owner.ts'

export type Brand = Static<typeof PayersMerchant>

interface Branded {
  readonly brand: Brand
  readonly country: string
}

/** How pages for payers look like their merchant. */
export async function brandOf(
  dependencies: Pick<Dependencies, 'store'>,
  owner: MerchantOwner,
): Promise<Brand> {
  return (await brandedMerchant(dependencies, owner)).brand
}

export async function brandedMerchant(
  { store }: Pick<Dependencies, 'store'>,
  owner: MerchantOwner,
): Promise<Branded> {
  const [state, { accentColor }] = await Promise.all([
    readState(store, merchant, owner.merchant),
    readState(store, branding, brandingId(owner)),
  ])
  if (state.status === 'none') throw new Error(`there is no merchant ${owner.merchant}`)
  const { name, country } = state
  return { brand: { name, logo_url: null, accent_color: accentColor }, country }
}
