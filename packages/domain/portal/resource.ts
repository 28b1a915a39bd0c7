import { publicId } from '../../contract/identity.ts'
import { portalPermissions } from '../../contract/access/callers.ts'
import { PayersMerchant } from '../../contract/payments/payers-merchant.ts'
import {
  base,
  choice,
  Identity,
  literals,
  maybe,
  nullable,
  record,
  Timestamp,
  Type,
  unixSeconds,
  webAddress,
  type Static,
} from '../../contract/vocabulary.ts'
import type { PortalSession } from './portal-session.ts'

export const PortalReturnUrl = Type.String({
  ...webAddress,
  examples: ['https://shop.example/account'],
  description: 'Where the customer goes back to',
})

export const PortalRequest = record({
  customerId: { ...Identity, description: 'Whose portal it is' },
  returnUrl: maybe(PortalReturnUrl),
  permissions: maybe(
    Type.Array(choice(...portalPermissions), {
      minItems: 1,
      maxItems: portalPermissions.length,
      description: 'What the customer sees there; left out, everything',
    }),
  ),
})

const sessionFields = {
  ...base('portal_session', 'ps'),
  customer: record({
    id: Type.String(),
    name: nullable(Type.String()),
    email: nullable(Type.String()),
  }),
  merchant: PayersMerchant,
  permissions: Type.Array(literals(...portalPermissions), { description: 'What the customer sees there' }),
  return_url: nullable(Type.String()),
  url: nullable(
    Type.String({ description: 'The page for the customer; null where the token is not to be shown' }),
  ),
  expires_at: Timestamp,
}

export const PortalSessionResource = record(sessionFields)

export const NewPortalSession = record({
  ...sessionFields,
  token: Type.String({ description: 'Opens the portal until it expires; it is shown once' }),
})

export type PortalSessionView = Static<typeof PortalSessionResource>

/** What stands beside the session. */
export interface PortalSides extends Pick<PortalSessionView, 'merchant' | 'url'> {
  readonly email: string | null
}

export function viewPortalSession(
  id: string,
  state: PortalSession,
  { email, merchant, url }: PortalSides,
): PortalSessionView | undefined {
  if (state.status === 'none') return undefined
  const { livemode, createdAt, customer, permissions, returnUrl, expiresAt } = state
  return {
    id: publicId('ps', id),
    object: 'portal_session',
    livemode,
    created: unixSeconds(createdAt),
    customer: { id: publicId('cus', customer), name: null, email },
    merchant,
    permissions: [...permissions],
    return_url: returnUrl,
    url,
    expires_at: expiresAt,
  }
}
