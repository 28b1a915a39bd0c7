import { randomUUID } from 'node:crypto'

export interface SignedIn {
  readonly id: string
  readonly email: string
  readonly password: string
  readonly merchant: string
  readonly session: string
  /** The access token, which a client takes as `key`. */
  readonly token: string
  readonly refreshToken: string
}

/** Requests by this user. */
export const as = ({ token }: Pick<SignedIn, 'token'>) => ({ key: token })

interface Account {
  readonly email: string
  readonly password: string
}

export const goodPassword = 'quatre mots sans lien'

/** Somebody new, with a merchant of their own. */
export async function newUser(client: Poster): Promise<SignedIn> {
  const account = { email: `${randomUUID()}@example.com`, password: goodPassword }
  const body = { ...account, name: 'Awa Koné', merchantName: 'Boutique Awa', country: 'CI' }
  return signedIn(account, (await client.post('/api/v1/auth/register', body, { key: '' })) as Response)
}

export async function signIn(client: Poster, account: Account): Promise<SignedIn> {
  const { email, password } = account
  const answer = await client.post('/api/v1/auth/login', { email, password }, { key: '' })
  return signedIn(account, answer as Response)
}

/** What a client of a service is for signing in. */
interface Poster {
  post(path: string, body: unknown, options: { readonly key: string }): Promise<object>
}

interface Response {
  readonly status: number
  readonly body: Answered
}

interface Answered {
  readonly id: string
  readonly access_token: string
  readonly refresh_token: string
  readonly user: { readonly id: string }
  readonly merchant: { readonly id: string } | null
}

export function signedIn({ email, password }: Account, { status, body }: Response): SignedIn {
  if (status >= 300) throw new Error(`sign-in answers ${status} ${JSON.stringify(body)}`)
  return {
    id: body.user.id,
    email,
    password,
    merchant: body.merchant?.id ?? '',
    session: body.id,
    token: body.access_token,
    refreshToken: body.refresh_token,
  }
}
