import type { MerchantOwner } from '../kernel/owner.ts'

/** Domain model 1.5. */
export type Role = 'owner' | 'admin' | 'developer' | 'analyst' | 'support'

interface Acting extends MerchantOwner {
  /** What the metadata of events says of them: `key:<id>`, `user:<id>`. */
  readonly actor: string
  /** The merchant may look, and change nothing. */
  readonly isSuspended?: true
}

/** What somebody has shown of himself. A user's scopes follow from the role. */
type Shown =
  | { readonly credential: 'api_key' | 'app_token'; readonly scopes: readonly string[] }
  | {
      readonly credential: 'user'
      readonly user: string
      readonly organization: string
      readonly role: Role
      readonly scopes: readonly string[]
    }
  | { readonly credential: 'customer_portal'; readonly customer: string }
  | { readonly credential: 'checkout_session'; readonly session: string }
  | { readonly credential: 'nobody' }

/** Who asks. Each acts for one merchant in one environment; nobody for whom the row finds out. */
export type Caller = Acting & Shown

export type CredentialKind = Shown['credential']

/** Whoever has no scopes at all is let in by the rows that name the credential. */
export function isGranted(caller: Caller, scope: string): boolean {
  return !('scopes' in caller) || caller.scopes.includes(scope) || caller.scopes.includes('*')
}

/** What a row says of who may ask. */
export interface Admission {
  /** Left out: API keys and app tokens; nobody where the scope is `public`. */
  readonly credentials?: readonly CredentialKind[]
  /** Whoever asks must have verified a challenge for this purpose; the field `challengeId` names it. */
  readonly challenge?: string
  /** The parameter of the path that only one stranger knows, whose idempotency keys are apart. */
  readonly token?: string
}

interface Taking {
  readonly scope: string
  readonly credentials?: readonly CredentialKind[]
}

const usual: readonly CredentialKind[] = ['api_key', 'app_token']
const none: readonly CredentialKind[] = ['nobody']

/** The credentials that a row takes. */
export function credentialsOf({ scope, credentials }: Taking): readonly CredentialKind[] {
  return credentials ?? (scope === 'public' ? none : usual)
}

/**
 * Asks whether somebody has proved a moment ago that it is really them. What is consumed proves nothing a
 * second time; it is refused as `challenge_must_be_verified` when it proves nothing at all.
 */
export interface Challenges {
  consume(challenge: {
    readonly id: string
    readonly purpose: string
    readonly caller: Caller
  }): Promise<void>
}
