import type { PayersMerchant } from '../../../../packages/contract/payments/payers-merchant.ts'
import type { Dependencies } from '../../../../packages/contract/routes.ts'
import type { Static } from '../../../../packages/contract/vocabulary.ts'
import { branding, brandingId } from '../../../../packages/domain/branding/branding.ts'
import { merchant } from '../../../../packages/domain/merchants/merchant.ts'
import { readState } from '../../../../packages/kernel/history.ts'
import type { MerchantOwner } from '../../../../packages/kernel/owner.ts'
import { logoUrl } from './logos.ts'

export type Brand = Static<typeof PayersMerchant>

interface Branded {
  readonly brand: Brand
  readonly country: string
  /** Whoever is suspended collects nothing. */
  readonly isActive: boolean
}

type BrandSources = Pick<Dependencies, 'store' | 'images' | 'baseUrl'>

/** How pages for payers look like their merchant. */
export async function brandOf(dependencies: BrandSources, owner: MerchantOwner): Promise<Brand> {
  return (await brandedMerchant(dependencies, owner)).brand
}

export async function brandedMerchant(dependencies: BrandSources, owner: MerchantOwner): Promise<Branded> {
  const { store } = dependencies
  const [state, look] = await Promise.all([
    readState(store, merchant, owner.merchant),
    readState(store, branding, brandingId(owner)),
  ])
  if (state.status === 'none') throw new Error(`there is no merchant ${owner.merchant}`)
  const { name, country } = state
  const logo_url = await logoUrl(dependencies, look)
  const isActive = state.status !== 'suspended'
  return { brand: { name, logo_url, accent_color: look.accentColor }, country, isActive }
}
