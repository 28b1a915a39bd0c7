import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  type Configuration,
} from 'openid-client'
import type { BlindIndex } from '../../packages/kernel/blind-index.ts'
import {
  GoogleAwayError,
  type GoogleAccount,
  type GoogleSignIn,
  type GoogleVisit,
} from '../../packages/kernel/ports/credentials.ts'

export interface GoogleClient {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
}

export interface GoogleOptions {
  readonly blindIndex: BlindIndex
  /** Where the browser comes back to. */
  readonly callbackUrl: string
}

/** What Google says about itself changes seldom. */
const knownForMs = 3_600_000
const timeoutSeconds = 5
const emailLengthMax = 254

/** Nonce and PKCE verifier are HMACs of the visit's id: nothing needs to be stored. */
export class OpenIdGoogle implements GoogleSignIn {
  readonly #client: GoogleClient
  readonly #blindIndex: BlindIndex
  readonly #callbackUrl: string
  #known: { readonly configuration: Promise<Configuration>; readonly until: number } | undefined

  constructor(client: GoogleClient, { blindIndex, callbackUrl }: GoogleOptions) {
    this.#client = client
    this.#blindIndex = blindIndex
    this.#callbackUrl = callbackUrl
  }

  async consentUrl({ id, state }: GoogleVisit): Promise<string> {
    const configuration = await this.#configuration()
    return buildAuthorizationUrl(configuration, {
      redirect_uri: this.#callbackUrl,
      scope: 'openid email',
      state,
      nonce: await this.#secret('nonce', id),
      code_challenge: await calculatePKCECodeChallenge(await this.#secret('verifier', id)),
      code_challenge_method: 'S256',
    }).href
  }

  /** The library checks state, nonce, signature, issuer, audience and time. */
  async account({ id, state }: GoogleVisit, answer: URLSearchParams): Promise<GoogleAccount | undefined> {
    const configuration = await this.#configuration()
    const checks = {
      expectedState: state,
      expectedNonce: await this.#secret('nonce', id),
      pkceCodeVerifier: await this.#secret('verifier', id),
      idTokenExpected: true,
    }
    const url = new URL(`?${answer}`, this.#callbackUrl)
    const tokens = await authorizationCodeGrant(configuration, url, checks).catch(unlessAway)
    const claims = tokens?.claims()
    if (!claims) return undefined
    const email = typeof claims['email'] === 'string' ? claims['email'].slice(0, emailLengthMax) : null
    return { subject: JSON.stringify([claims.iss, claims.sub]), email }
  }

  async #configuration(): Promise<Configuration> {
    const now = performance.now()
    const known = this.#known && now < this.#known.until ? this.#known : undefined
    const { configuration } = (this.#known = known ?? {
      configuration: discovered(this.#client),
      until: now + knownForMs,
    })
    try {
      return await configuration
    } catch (error) {
      if (this.#known?.configuration === configuration) this.#known = undefined
      throw new GoogleAwayError('Google does not say how to sign in', { cause: error })
    }
  }

  async #secret(of: 'nonce' | 'verifier', id: string): Promise<string> {
    const halves = [0, 1].map((half) => this.#blindIndex(JSON.stringify(['google', of, id, half])))
    return (await Promise.all(halves)).join('').replaceAll('-', '')
  }
}

function discovered({ issuer, clientId, clientSecret }: GoogleClient): Promise<Configuration> {
  const isPlain = issuer.startsWith('http:')
  return discovery(new URL(issuer), clientId, clientSecret, undefined, {
    timeout: timeoutSeconds,
    execute: [enableNonRepudiationChecks, ...(isPlain ? [allowInsecureRequests] : [])],
  })
}

/** Whatever else the library throws is no answer, or a setting that Google does not take. */
function unlessAway(error: unknown): undefined {
  const { code = '', error: reason } = error as { readonly code?: string; readonly error?: string }
  if (wrongCodes.has(code) || reason === 'invalid_grant') return undefined
  throw new GoogleAwayError('Google does not answer', { cause: error })
}

/** How the library says that an answer is not right. */
const wrongCodes: ReadonlySet<string> = new Set([
  'OAUTH_AUTHORIZATION_RESPONSE_ERROR',
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_PARSE_ERROR',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_KEY_SELECTION_FAILED',
])
