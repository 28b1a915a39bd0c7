/** What a token is for: it is accepted for nothing else. */
export type TokenKind = 'access' | 'refresh' | 'link'

export interface TokenClaims {
  /** Whom it is about: a user. */
  readonly subject: string
  /** What it opens: a session, or the one link that it is. */
  readonly id: string
  readonly [claim: string]: string | number
}

export interface OpenedToken {
  /** Id of the key that has signed it. */
  readonly key: string
  readonly claims: TokenClaims
  readonly expiresAt: Date
}

/** Signs what this service hands out, with keys of its own. Nothing that is signed needs to be stored. */
export interface Tokens {
  sign(kind: TokenKind, claims: TokenClaims, expiresAt: Date): Promise<string>
  /** `undefined` for what was never signed here, is of another kind, or has expired. */
  open(kind: TokenKind, token: string): Promise<OpenedToken | undefined>
  /** A JSON Web Key Set of every key that is accepted. */
  publicKeys(): Promise<readonly object[]>
}

/** Whom a hash is queued for, such as an account and a network: none of them fills the queue alone. */
export type QueueKeys = readonly string[]

/** Hashes passwords slowly, a few at a time; the rest wait in a queue that has an end. */
export interface Passwords {
  /** Somebody else is served: for a moment, one processor is left to them. */
  shareProcessors(): void
  /** Throws PasswordsBusyError now rather than once something was written down. */
  requireRoom(keys: QueueKeys): void
  /** The same, and keeps a place in the queue for what is written down first. */
  reserve(keys: QueueKeys): ReservedPlace
  hash(password: string, keys: QueueKeys): Promise<string>
  /** Takes as long without a hash, and is then never true. */
  isRight(password: string, hash: string | null, keys: QueueKeys): Promise<boolean>
  /** Whether it is easily guessed, also by who knows these words: name, address. */
  isWeak(password: string, known: readonly string[]): Promise<boolean>
}

export interface ReservedPlace {
  isRight(password: string, hash: string | null): Promise<boolean>
  /** For whoever did not come to use it; harmless after that. */
  release(): void
}

/** Codes that are typed: sent ones, and those of authenticators (RFC 6238). */
export interface OneTimeCodes {
  /** Six digits that follow from this id and a key of ours: stored nowhere. */
  of(id: string): Promise<string>
  /** The time step whose code it is, one before and one after included; `undefined` for no such code. */
  stepOf(secret: string, code: string): Promise<number | undefined>
  /** For an authenticator, in base 32. */
  newSecret(): string
  /** The same as the address that is shown as a picture to be scanned. */
  urlOf(label: string, secret: string): string
}

/** Which key of a device, and how browsers reach it. */
export interface PasskeyId {
  /** In base64url, as browsers name it. */
  readonly credential: string
  readonly transports: readonly string[]
}

export interface PasskeyKey extends PasskeyId {
  readonly publicKey: string
  readonly counter: number
}

export interface CreatedPasskey extends PasskeyKey {
  readonly isBackupEligible: boolean
  readonly isBackedUp: boolean
}

/** Whom a browser makes a key for. */
export interface PasskeyHolder {
  readonly user: string
  readonly email: string
  readonly name: string
  readonly known: readonly PasskeyId[]
}

/** Keys that a device keeps and uses for whom it recognises (WebAuthn). */
export interface Passkeys {
  /** What a browser is asked to make a key with. `challenge`: an id, for which alone the answer is good. */
  creation(challenge: string, holder: PasskeyHolder): Promise<object>
  /** What a browser is asked to use a key with: one of these, or without any whichever the device has. */
  request(challenge: string, known: readonly PasskeyId[]): Promise<object>
  /** The id of the challenge that an answer is for; `undefined` where none was made here. */
  challengeOf(answer: object): Promise<string | undefined>
  /** `undefined` for an answer that is not right. */
  created(challenge: string, answer: object): Promise<CreatedPasskey | undefined>
  used(
    challenge: string,
    answer: object,
    key: PasskeyKey,
  ): Promise<{ readonly counter: number; readonly isBackedUp: boolean } | undefined>
}

/** One sign-in with Google, from the page that asks for it until the browser is back. */
export interface GoogleVisit {
  /** What only this visit can be answered with follows from its id. */
  readonly id: string
  /** Comes back with the browser. */
  readonly state: string
}

/** Whose account at Google it is. */
export interface GoogleAccount {
  /** Nobody else ever has it, and it stays the same when the address changes. */
  readonly subject: string
  readonly email: string | null
}

/** Has Google say who somebody is (OpenID Connect). Both throw GoogleAwayError. */
export interface GoogleSignIn {
  /** Where the browser goes. */
  consentUrl(visit: GoogleVisit): Promise<string>
  /** `undefined` where what the browser came back with does not prove it. */
  account(visit: GoogleVisit, answer: URLSearchParams): Promise<GoogleAccount | undefined>
}

/** Google does not answer, or does not take us for its client. */
export class GoogleAwayError extends Error {
  override readonly name = 'GoogleAwayError'
}

/** So many passwords wait to be hashed that this one is not taken. */
export class PasswordsBusyError extends Error {
  override readonly name = 'PasswordsBusyError'
}
