import { literals, maybe, record, Timestamp, Type, Uuid } from '../../../contract/vocabulary.ts'

const ReturnUrl = maybe(
  Type.String({
    format: 'uri',
    maxLength: 1024,
    description: 'A page of the dashboard to which the browser comes back; by default its first',
  }),
)
const State = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: 'What the answer to the beginning said, which the page has kept',
})

export const GoogleBeginning = record({ returnUrl: ReturnUrl })
export const GoogleConnection = record({
  returnUrl: ReturnUrl,
  challengeId: maybe(
    Type.String({ ...Uuid, description: 'A verified challenge; needed unless the user signed in just now' }),
  ),
})
export const GoogleDisconnection = record({ challengeId: GoogleConnection.properties.challengeId })

/** What Google adds to the address. The rest of it is of no concern, and changes at times. */
const Answered = Type.Optional(Type.String({ maxLength: 4096 }))
export const GoogleAnswer = record({
  code: Answered,
  state: Answered,
  error: Answered,
  iss: Answered,
})

export const GoogleCompletion = record({
  code: Type.String({ minLength: 1, maxLength: 4096, description: 'With which the browser came back' }),
  state: State,
})

export const OauthRedirectResource = record({
  object: literals('oauth_redirect'),
  url: Type.String({ description: 'Of Google, where the browser goes' }),
  state: Type.String({
    description: 'Kept by the page that asked: without it, nobody can use the code that comes back',
  }),
  expires_at: Timestamp,
})
