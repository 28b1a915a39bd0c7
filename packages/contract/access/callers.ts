import type { MerchantOwner } from '../../kernel/owner.ts'

/** Domain model 1.5. */
export type Role = 'owner' | 'admin' | 'developer' | 'analyst' | 'support'

/** What a merchant may let a customer do in the portal. */
export const portalPermissions = ['invoices', 'subscriptions', 'payments', 'wallet'] as const
export type PortalPermission = (typeof portalPermissions)[number]

interface Acting extends MerchantOwner {
  /** The actor in the metadata of events: `key:<id>`, `user:<id>`. */
  readonly actor: string
  /** The merchant may read but change nothing. */
  readonly isSuspended?: true
}

/** What a caller has authenticated as. A user's scopes follow from the role. */
type Shown =
  | { readonly credential: 'api_key' | 'app_token'; readonly scopes: readonly string[] }
  | {
      readonly credential: 'user'
      readonly user: string
      readonly session: string
      /** How often all sessions of the user had been ended when it began. */
      readonly endings: number
      /** Null for a merchant that no organization owns. */
      readonly organization: string | null
      /** Null for who is no member of the merchant, or no more. */
      readonly role: Role | null
      readonly scopes: readonly string[]
    }
  | {
      readonly credential: 'customer_portal'
      readonly session: string
      readonly customer: string
      readonly permissions: readonly PortalPermission[]
    }
  | { readonly credential: 'nobody' }

/**
 * Who makes the request. Each acts for one merchant in one environment; for `nobody`, the row finds the
 * owner.
 */
export type Caller = Acting & Shown

export type CredentialKind = Shown['credential']

/** A caller without scopes is admitted by rows that name its credential. */
export function isGranted(caller: Caller, scope: string): boolean {
  return !('scopes' in caller) || caller.scopes.includes(scope) || caller.scopes.includes('*')
}

/** What a row says about who may call it. */
export interface Admission {
  /** Left out: API keys, app tokens and users; nobody where the scope is `public`. */
  readonly credentials?: readonly CredentialKind[]
  /** The caller must have passed a challenge for this purpose; the field `challengeId` names it. */
  readonly challenge?: string
  /** What a portal must allow. Left out: it is in every portal. */
  readonly permission?: PortalPermission
  /**
   * The path parameter that is secret to one stranger, which separates their idempotency keys from others'.
   */
  readonly token?: string
}

/** Whose portal it is. To any other caller nothing there belongs, which no id is. */
export function customerOf(caller: Caller): string {
  return caller.credential === 'customer_portal' ? caller.customer : ''
}

/** Who is signed in. To any other caller nothing of a user belongs, which no id is. */
export function signedInUser(caller: Caller): string {
  return caller.credential === 'user' ? caller.user : ''
}

interface Taking {
  readonly scope: string
  readonly credentials?: readonly CredentialKind[]
}

const usual: readonly CredentialKind[] = ['api_key', 'app_token', 'user']
const none: readonly CredentialKind[] = ['nobody']

/** The credentials that a row accepts. */
export function credentialsOf({ scope, credentials }: Taking): readonly CredentialKind[] {
  return credentials ?? (scope === 'public' ? none : usual)
}

/** Whether the row takes any credential at all. */
export function takesCredentials(row: Taking): boolean {
  return credentialsOf(row).some((kind) => kind !== 'nobody')
}

/**
 * Checks a challenge passed a moment ago. A consumed one proves nothing again; without proof it is refused as
 * `challenge_must_be_verified`.
 */
export interface Challenges {
  consume(challenge: {
    readonly id: string
    readonly purpose: string
    readonly caller: Caller
    /** The request: its repeats may go on with what it has consumed. */
    readonly by: string
  }): Promise<void>
}
