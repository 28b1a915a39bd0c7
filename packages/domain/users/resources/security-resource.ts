import { literals, nullable, record, Timestamp, Type, Uuid } from '../../../contract/vocabulary.ts'

export const SecurityEventResource = record({
  id: Uuid,
  object: literals('security_event'),
  livemode: Type.Boolean({ description: 'False in sandbox' }),
  type: Type.String({ description: 'What happened, such as `SignInFailed` or `UserPasswordChanged`' }),
  at: Timestamp,
  actor: Type.String({ description: 'Who did it: user:<id>, policy:<name> or public' }),
  request_id: nullable(Type.String({ description: 'The request that asked for it, where one did' })),
  merchant_id: nullable({ ...Uuid, description: 'The merchant that it is about, where it is about one' }),
  subject_type: nullable(
    Type.String({ description: 'What it happened to, where not to the account itself' }),
  ),
  subject_id: nullable(Type.String({ description: 'Its id' })),
})
