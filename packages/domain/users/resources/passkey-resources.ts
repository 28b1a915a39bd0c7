import {
  literals,
  maybe,
  nameText,
  nullable,
  record,
  Timestamp,
  Type,
  UnixSeconds,
  Uuid,
} from '../../../contract/vocabulary.ts'

/** What the browser answers, as JSON or as a text of it. */
const BrowserAnswer = Type.Unsafe<object | string>({
  type: ['object', 'string'],
  additionalProperties: true,
  maxLength: 65_536,
  description: 'What the browser answered: a PublicKeyCredential as JSON, or the same as a text',
})
const Nickname = nameText(64, 'What its owner calls it')
const ChallengeId = maybe(
  Type.String({ ...Uuid, description: 'A verified challenge; needed unless the user signed in just now' }),
)

export const PasskeyCreation = record({ challengeId: ChallengeId })
export const PasskeyRegistration = record({
  attestationResponse: maybe(BrowserAnswer),
  nickname: maybe(Nickname),
})
export const PasskeyRevision = record({ nickname: maybe(Nickname) })
export const PasskeyRemoval = record({
  challengeId: Type.Optional(Type.String({ ...Uuid, description: 'A verified challenge' })),
})
export const PasskeySignIn = record({
  email: maybe(
    Type.String({ format: 'email', maxLength: 254, description: 'For devices that know no user' }),
  ),
})
export const PasskeyAnswer = record({ assertionResponse: maybe(BrowserAnswer) })

export const PasskeyResource = record({
  id: Uuid,
  object: literals('passkey'),
  livemode: Type.Boolean({ description: 'False in sandbox' }),
  created: UnixSeconds,
  nickname: nullable(Type.String({ description: 'What its owner calls it' })),
  transports: Type.Array(Type.String(), { description: 'How browsers reach it: internal, usb, hybrid, …' }),
  backup_eligible: Type.Boolean({
    description:
      'Whether other devices of its owner can have it too; one that cannot is lost with its device',
  }),
  backed_up: Type.Boolean({ description: 'Whether other devices of its owner have it too' }),
  last_used_at: nullable(Timestamp),
})

export const RemovedPasskey = record({ id: Uuid, object: literals('passkey'), deleted: Type.Literal(true) })

export const WebauthnOptionsResource = record({
  object: literals('webauthn_options'),
  challenge_id: Uuid,
  public_key: Type.Unsafe<object>({
    type: 'object',
    additionalProperties: true,
    description:
      'For navigator.credentials: read it with parseCreationOptionsFromJSON or parseRequestOptionsFromJSON',
  }),
})
