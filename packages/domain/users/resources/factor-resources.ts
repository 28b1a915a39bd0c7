import { literals, maybe, nullable, record, Timestamp, Type, Uuid } from '../../../contract/vocabulary.ts'

export const TotpBeginning = record({
  challengeId: maybe(
    Type.String({ ...Uuid, description: 'A verified challenge; needed unless the user signed in just now' }),
  ),
})

export const TotpCode = record({
  secretId: Uuid,
  code: Type.String({ minLength: 6, maxLength: 6, description: 'What the new authenticator shows' }),
})

export const ChallengeProof = record({ challengeId: Uuid })

export const MfaStatusResource = record({
  id: Uuid,
  object: literals('mfa_status'),
  totp_enabled: Type.Boolean({ description: 'Whether signing in asks for a code of an authenticator' }),
  passkeys: Type.Integer({ minimum: 0, description: 'How many passkeys sign the user in' }),
  google_connected: Type.Boolean({ description: 'Whether a Google account signs the user in' }),
  google_email: nullable(Type.String({ description: 'Which Google account it is' })),
  recovery_codes_left: Type.Integer({ minimum: 0, description: 'How many stand in for the authenticator' }),
  required_by_merchant: Type.Boolean({
    description: 'Whether the merchant lets nobody work without one; none does yet',
  }),
  email_otp: Type.Boolean({ description: 'Whether challenges are answered with mailed codes' }),
})

export const TotpSetupResource = record({
  object: literals('totp_setup'),
  secret_id: Uuid,
  secret: Type.String({ description: 'To be typed into an authenticator, in base 32' }),
  otpauth_url: Type.String({ description: 'To be shown as a QR code' }),
  expires_at: Timestamp,
})

export const RecoveryCodesResource = record({
  object: literals('recovery_codes'),
  codes: Type.Array(Type.String(), { description: 'Each stands in for the authenticator once' }),
  created_at: Timestamp,
})

export const ProvenPasswordChange = record({
  challengeId: Uuid,
  newPassword: Type.String({
    minLength: 8,
    maxLength: 256,
    description: 'At least 8 characters, hard to guess',
  }),
})
