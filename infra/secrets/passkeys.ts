import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { parse, stringify } from 'uuid'
import type {
  CreatedPasskey,
  PasskeyHolder,
  PasskeyId,
  PasskeyKey,
  Passkeys,
} from '../../packages/kernel/ports/credentials.ts'
import type { BlindIndex } from '../../packages/kernel/blind-index.ts'
import { lateModule } from '../os/late-module.ts'

// Three hundred files: they are loaded when the first passkey is used.
const webauthn = lateModule<typeof import('@simplewebauthn/server')>('@simplewebauthn/server')
const webauthnHelpers = lateModule<typeof import('@simplewebauthn/server/helpers')>(
  '@simplewebauthn/server/helpers',
)

/** As browsers show it. */
const rpName = 'IKW Payments'
const timeout = 5 * 60_000
/** COSE: ES256, EdDSA, RS256. */
const algorithms = [-7, -8, -257]
const userVerification = 'required'
const idBytes = 16

export interface PasskeyOptions {
  readonly blindIndex: BlindIndex
  /** Of the pages that users see: its origin is the only one, and its host the relying party's id. */
  readonly url: string
}

/** What a device signs is the challenge's id and an HMAC of it: nothing needs to be stored. */
export class WebauthnPasskeys implements Passkeys {
  readonly #blindIndex: BlindIndex
  readonly #origin: string
  readonly #host: string

  constructor({ blindIndex, url }: PasskeyOptions) {
    const { origin, hostname } = new URL(url)
    this.#blindIndex = blindIndex
    this.#origin = origin
    this.#host = hostname
  }

  async creation(id: string, { user, email, name, known }: PasskeyHolder): Promise<object> {
    const { generateRegistrationOptions } = webauthn()
    return generateRegistrationOptions({
      ...{ rpName, rpID: this.#host, timeout, userName: email, userDisplayName: name },
      userID: parse(user) as Uint8Array<ArrayBuffer>,
      challenge: bytesOf(await this.#signed(id)),
      attestationType: 'none',
      excludeCredentials: listed(known),
      authenticatorSelection: { residentKey: 'preferred', userVerification },
      supportedAlgorithmIDs: algorithms,
    })
  }

  async request(id: string, known: readonly PasskeyId[]): Promise<object> {
    const { generateAuthenticationOptions } = webauthn()
    const challenge = bytesOf(await this.#signed(id))
    const allowed = known.length > 0 && { allowCredentials: listed(known) }
    return generateAuthenticationOptions({
      ...{ rpID: this.#host, timeout, userVerification, challenge },
      ...allowed,
    })
  }

  async challengeOf(answer: object): Promise<string | undefined> {
    const challenge = signedChallenge(answer)
    if (challenge?.length !== 2 * idBytes) return undefined
    const id = stringify(challenge.subarray(0, idBytes))
    return challenge.toString('base64url') === (await this.#signed(id)) ? id : undefined
  }

  async created(id: string, answer: object): Promise<CreatedPasskey | undefined> {
    const [{ verifyRegistrationResponse }, helpers] = [webauthn(), webauthnHelpers()]
    const expected = await this.#expected(id)
    return unlessWrong(async () => {
      const response = answer as RegistrationResponseJSON
      if (isCertified(response, helpers)) return undefined
      const options = { ...expected, response, supportedAlgorithmIDs: algorithms }
      const { verified, registrationInfo: made } = await verifyRegistrationResponse(options)
      if (!verified) return undefined
      return {
        credential: made.credential.id,
        publicKey: Buffer.from(made.credential.publicKey).toString('base64url'),
        counter: made.credential.counter,
        transports: transportsOf(response),
        isBackupEligible: made.credentialDeviceType === 'multiDevice',
        isBackedUp: made.credentialBackedUp,
      }
    })
  }

  async used(id: string, answer: object, { credential, publicKey, counter }: PasskeyKey) {
    const { verifyAuthenticationResponse } = webauthn()
    const expected = await this.#expected(id)
    return unlessWrong(async () => {
      const { verified, authenticationInfo: use } = await verifyAuthenticationResponse({
        ...expected,
        response: answer as AuthenticationResponseJSON,
        credential: { id: credential, publicKey: bytesOf(publicKey), counter },
      })
      if (!verified || use.credentialID !== credential) return undefined
      return { counter: use.newCounter, isBackedUp: use.credentialBackedUp }
    })
  }

  async #signed(id: string): Promise<string> {
    const digest = await this.#blindIndex(JSON.stringify(['passkey', id]))
    return Buffer.concat([parse(id), parse(digest)]).toString('base64url')
  }

  async #expected(id: string) {
    return {
      expectedChallenge: await this.#signed(id),
      expectedOrigin: this.#origin,
      expectedRPID: this.#host,
      requireUserVerification: true,
    }
  }
}

/** The library throws for every answer that proves nothing, and answers come from anywhere. */
async function unlessWrong<Result>(work: () => Promise<Result | undefined>): Promise<Result | undefined> {
  try {
    return await work()
  } catch {
    return undefined
  }
}

/** Nobody is asked for certificates, which could make the library fetch what they name. */
function isCertified(
  { response }: RegistrationResponseJSON,
  { decodeAttestationObject }: ReturnType<typeof webauthnHelpers>,
): boolean {
  const attestation = decodeAttestationObject(bytesOf(response.attestationObject))
  return attestation.get('attStmt').get('x5c') !== undefined || !formats.includes(attestation.get('fmt'))
}

const formats: readonly string[] = ['none', 'packed']

function signedChallenge(answer: object): Buffer | undefined {
  const { response } = answer as { readonly response?: { readonly clientDataJSON?: unknown } }
  if (typeof response?.clientDataJSON !== 'string') return undefined
  try {
    const data: unknown = JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString('utf8'))
    const { challenge } = (data ?? {}) as { readonly challenge?: unknown }
    return typeof challenge === 'string' ? Buffer.from(challenge, 'base64url') : undefined
  } catch {
    return undefined
  }
}

const transportsMax = 8

function transportsOf({ response: { transports } }: RegistrationResponseJSON): readonly string[] {
  const known: readonly unknown[] = Array.isArray(transports) ? transports : []
  const texts = known.filter((one): one is string => typeof one === 'string' && /^[\w-]{1,32}$/.test(one))
  return texts.slice(0, transportsMax)
}

function listed(known: readonly PasskeyId[]) {
  return known.map(({ credential, transports }) => ({ id: credential, transports: [...transports] }))
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(text, 'base64url'))
}
