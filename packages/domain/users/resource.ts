import {
  choice,
  literals,
  nameText,
  nullable,
  optional,
  record,
  Timestamp,
  Type,
  Uuid,
  Email,
  KnownCountry,
  Msisdn,
} from '../../contract/vocabulary.ts'
import { roles } from '../../contract/access/roles.ts'
import { OnboardingState } from './resources/onboarding-resources.ts'
import { languages } from './events.ts'

/** Longer ones only cost time. */
const Password = Type.String({
  minLength: 8,
  maxLength: 256,
  description: 'At least 8 characters, hard to guess',
})
const PersonName = nameText(128, 'As mails address the user')
const Token = Type.String({ minLength: 1, maxLength: 4096, description: 'The token of the mailed link' })

// Requests

export const SignInRequest = record({
  email: Email,
  // A password of another time may be shorter than today's minimum, but never longer than what is stored.
  password: Type.String({ minLength: 8, maxLength: 256 }),
})

const proofOf = (what: string) =>
  optional(nullable(Type.String({ ...Uuid, description: `A verified challenge for ${what}` })))

export const RegistrationRequest = record({
  email: Email,
  password: Password,
  name: PersonName,
  merchantName: nameText(128, 'As payers see it'),
  phone: optional(nullable(Msisdn)),
  emailChallengeId: proofOf('the address'),
  phoneChallengeId: proofOf('the number'),
  country: optional(nullable(KnownCountry)),
})

export const RefreshRequest = record({
  refreshToken: Type.String({ minLength: 1, maxLength: 4096, description: 'The newest of this session' }),
})

export const AddressRequest = record({ email: Email })
export const TokenRequest = record({ token: Token })
export const PasswordResetRequest = record({ token: Token, newPassword: Password })
export const PasswordChangeRequest = record({
  currentPassword: Type.String({ minLength: 1, maxLength: 256 }),
  newPassword: Password,
})

// Resources

const own = { livemode: Type.Boolean({ description: 'False in sandbox' }) }
const MerchantName = record({ id: Uuid, name: Type.String() }, { 'x-name': 'MerchantName' })
const OrganizationName = record({ id: Uuid, display_name: Type.String() }, { 'x-name': 'OrganizationName' })
const Role = nullable(literals(...roles))
const Scopes = Type.Array(Type.String(), { description: 'What the role may do for the merchant' })

export const AuthSessionResource = record({
  id: Uuid,
  object: literals('auth_session'),
  ...own,
  created: Type.Integer({ minimum: 0, description: 'Unix time in seconds' }),
  access_token: Type.String({ description: 'Sent as `Authorization: Bearer`' }),
  refresh_token: Type.String({ description: 'Buys the next pair once' }),
  token_type: literals('Bearer'),
  expires_in: Type.Integer({ description: 'Seconds that the access token lasts' }),
  refresh_expires_in: Type.Integer({ description: 'Seconds that the session lasts without a refresh' }),
  user: record({ id: Uuid, email: Type.String(), name: Type.String() }, { 'x-name': 'UserName' }),
  merchant: nullable(MerchantName),
  organization: nullable(OrganizationName),
  role: Role,
  scopes: Scopes,
  mfa_required: Type.Boolean({ description: 'True where a second factor has to be shown first' }),
})

export const MeResource = record({
  id: Uuid,
  object: literals('user'),
  ...own,
  created: Type.Integer({ minimum: 0, description: 'Unix time in seconds' }),
  email: Type.String(),
  email_verified: Type.Boolean(),
  name: Type.String(),
  phone: nullable(Type.String()),
  phone_verified: Type.Boolean({ description: 'Whether the user has shown to have it' }),
  language: choice(...languages),
  mfa_enabled: Type.Boolean({ description: 'Whether there is an authenticator or a passkey' }),
  merchant: nullable(MerchantName),
  organization: nullable(OrganizationName),
  role: Role,
  scopes: Scopes,
  environments: Type.Array(literals('sandbox', 'live')),
  onboarding: { ...OnboardingState, description: 'How far the guide was followed' },
})

export const AcknowledgementResource = record({ object: literals('acknowledgement'), message: Type.String() })

export const SessionResource = record({
  id: Uuid,
  object: literals('session'),
  ...own,
  created: Type.Integer({ minimum: 0, description: 'Unix time in seconds' }),
  device: nullable(Type.String({ description: 'What it said it was when it last signed in or refreshed' })),
  ip: nullable(Type.String({ description: 'From where it last signed in or refreshed' })),
  country: nullable(
    Type.String({ description: 'In which country that was, as a proxy says; null where none does' }),
  ),
  current: Type.Boolean({ description: 'The one that asks' }),
  last_used_at: Timestamp,
  expires_at: Timestamp,
})

export const EndedSession = record({ id: Uuid, object: literals('session'), deleted: Type.Literal(true) })
