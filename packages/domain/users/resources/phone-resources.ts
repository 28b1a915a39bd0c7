import { Email, maybe, Msisdn, record, Type, Uuid } from '../../../contract/vocabulary.ts'

const Code = Type.String({ minLength: 6, maxLength: 6, description: 'The six digits that were sent' })
const NewPassword = Type.String({
  minLength: 8,
  maxLength: 256,
  description: 'At least 8 characters, hard to guess',
})

export const PhoneChange = record({ challengeId: Uuid, newPhone: Msisdn })
/** All optional, as the specification has them; what a change needs is needed all the same. */
export const PhoneChangeRequest = record({
  challengeId: maybe(
    Type.String({ ...Uuid, description: 'A verified challenge; needed by who has a second factor' }),
  ),
  newPhone: maybe(Msisdn),
})
export const PhoneChangeProof = record({
  requestId: maybe(Type.String({ ...Uuid, description: 'Which change; by default the newest' })),
  code: maybe(Code),
})

export const SensitiveUpdate = record({
  challengeId: Uuid,
  newEmail: maybe(Type.String({ ...Email, description: 'The address to sign in with' })),
  newPhone: maybe(Msisdn),
  newPassword: maybe(NewPassword),
})

export const PreSignupEmail = record({ email: Email })
export const PreSignupPhone = record({ phone: Msisdn })
export const PreSignupAnswer = record({ challengeId: Uuid, code: Code })
