/** A merchant's sandbox and its live environment are two owners. */
export interface MerchantOwner {
  readonly merchant: string
  readonly livemode: boolean
}

export interface OrganizationOwner {
  readonly organization: string
}

export interface UserOwner {
  readonly user: string
}

/** The service itself: what is unique over all merchants, and keys of its own. */
export interface PlatformOwner {
  readonly platform: true
}

/**
 * The owner of a stream: fixed by its first event, for ever. Its fields tell which kind of owner it is, and
 * are named like the columns of read models.
 */
export type Owner = MerchantOwner | OrganizationOwner | UserOwner | PlatformOwner

export type OwnerKind = 'merchant' | 'organization' | 'user' | 'platform'

export function ownerKind(owner: Owner): OwnerKind {
  if ('merchant' in owner) return 'merchant'
  if ('organization' in owner) return 'organization'
  return 'user' in owner ? 'user' : 'platform'
}

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

/** Whether what comes from outside names an owner. */
export function isOwned(named: Readonly<Record<string, unknown>>): boolean {
  const { merchant, livemode, organization, user, platform } = named
  if (merchant !== undefined) return typeof merchant === 'string' && typeof livemode === 'boolean'
  return typeof organization === 'string' || typeof user === 'string' || platform === true
}

/** One text for each owner, for keys: `<merchant> true`, `user <id>`. */
export function ownerText(owner: Owner): string {
  if ('merchant' in owner) return `${owner.merchant} ${owner.livemode}`
  if ('organization' in owner) return `organization ${owner.organization}`
  return 'user' in owner ? `user ${owner.user}` : 'platform'
}

/**
 * Owners of all kinds in the two columns of merchants, for tables that only ask for one of them by name: ids
 * are unique, and nobody else has a live environment.
 */
export function asMerchant(owner: Owner): MerchantOwner {
  if ('merchant' in owner) return owner
  const merchant = 'organization' in owner ? owner.organization : 'user' in owner ? owner.user : nobodysId
  return { merchant, livemode: false }
}

const nobodysId = '00000000-0000-0000-0000-000000000000'

/** Columns for owners of all kinds, of which all but one owner's are null. */
export interface OwnerColumns {
  readonly merchant: string | null
  readonly livemode: boolean | null
  readonly organization: string | null
  readonly user: string | null
}

export function ownerIn({ merchant, livemode, organization, user }: OwnerColumns): Owner {
  if (merchant !== null) return { merchant, livemode: livemode! }
  if (organization !== null) return { organization }
  return user !== null ? { user } : { platform: true }
}

/** The owner columns of an owner's row. */
export function ownedBy(owner: Owner): Readonly<Record<string, string | boolean>> {
  // Fresh, and none of its fields is of another type.
  return 'platform' in owner ? {} : (ownerOf(owner) as never)
}
