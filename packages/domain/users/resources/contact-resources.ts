import {
  choice,
  clearable,
  Email,
  literals,
  maybe,
  nameText,
  nullable,
  optional,
  record,
  Timestamp,
  Type,
  UnixSeconds,
  Uuid,
} from '../../../contract/vocabulary.ts'
import { languages } from '../events.ts'

const Name = nameText(128, 'As mails address the user')

export const PersonalInfoRevision = record({
  name: optional(Name),
  secondaryEmail: clearable(Email),
  language: optional(choice(...languages)),
})

export const EmailChange = record({ challengeId: Uuid, newEmail: Email })
/** Both optional, as the specification has them; the new address is needed all the same. */
export const EmailChangeRequest = record({
  challengeId: maybe(
    Type.String({ ...Uuid, description: 'A verified challenge; needed unless the user signed in just now' }),
  ),
  newEmail: maybe(Type.String({ ...Email, description: 'The address to sign in with' })),
})
export const EmailChangeCancellation = record({
  requestId: maybe(Type.String({ ...Uuid, description: 'Which change; by default the newest' })),
})

export const PersonalInfoResource = record({
  id: Uuid,
  object: literals('personal_info'),
  livemode: Type.Boolean({ description: 'False in sandbox' }),
  created: UnixSeconds,
  name: Type.String({ description: 'As mails address the user' }),
  email: Type.String(),
  email_verified: Type.Boolean({ description: 'Whether the user has confirmed the address' }),
  secondary_email: nullable(Type.String({ description: 'Another address of the user' })),
  phone: nullable(Type.String({ description: 'Telephone number' })),
  phone_verified: Type.Boolean({ description: 'Whether the user has shown to have it' }),
  language: literals(...languages),
})

export const ContactChangeResource = record({
  id: Uuid,
  object: literals('contact_change'),
  kind: literals('email', 'phone'),
  new_value_hint: Type.String({ description: 'The new address in part' }),
  status: literals('pending', 'completed', 'canceled'),
  expires_at: Timestamp,
})
