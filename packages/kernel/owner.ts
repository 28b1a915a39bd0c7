/** A merchant's sandbox and its live environment are two owners. */
export interface MerchantOwner {
  readonly merchant: string
  readonly livemode: boolean
}

/**
 * The owner of a stream: fixed by its first event, for ever. Its fields tell which kind of owner it is, and
 * are named like the columns of read models.
 */
export type Owner =
  MerchantOwner | { readonly organization: string } | { readonly user: string } | { readonly platform: true }

/** Whether one may see and change what belongs to the other. Owners are compared nowhere else. */
export function owns(owner: Owner, other: Owner): boolean {
  if ('merchant' in owner)
    return 'merchant' in other && owner.merchant === other.merchant && owner.livemode === other.livemode
  if ('organization' in owner) return 'organization' in other && owner.organization === other.organization
  if ('user' in owner) return 'user' in other && owner.user === other.user
  return 'platform' in other
}

/** Only the owner's fields: of metadata, a row, a caller. */
export function ownerOf(owned: MerchantOwner): MerchantOwner
export function ownerOf(owned: Owner): Owner
export function ownerOf(owned: Owner): Owner {
  if ('merchant' in owned) return { merchant: owned.merchant, livemode: owned.livemode }
  if ('organization' in owned) return { organization: owned.organization }
  if ('user' in owned) return { user: owned.user }
  return { platform: true }
}

/** The owner columns of an owner's row. */
export function ownedBy(owner: Owner): Readonly<Record<string, string | boolean>> {
  return 'platform' in owner ? {} : { ...ownerOf(owner) }
}
