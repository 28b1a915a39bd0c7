import { randomUUID } from 'node:crypto'

/** What a client of a service is here. */
interface Poster {
  readonly url: string
  post(path: string, body: unknown, options?: { readonly key?: string }): Promise<object>
}

interface Answered {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

export interface Portal {
  readonly id: string
  readonly token: string
  readonly url: string
}

const sessions = '/api/v1/customer-portal/sessions'

/** Without a key, by the client's own. */
export async function openPortal(client: Poster, body: object, key?: string): Promise<Portal> {
  const answer = (await client.post(sessions, body, given(key))) as Answered
  if (answer.status !== 201) throw new Error(`${sessions}: ${JSON.stringify(answer.body)}`)
  return answer.body as unknown as Portal
}

const subscribers = new Map<string, Promise<string>>()

/**
 * The customer of most samples: one for all, since each is met by a payment intent, of which there would be
 * too many.
 */
export function subscriber(client: Poster): Promise<string> {
  const known = subscribers.get(client.url) ?? metCustomer(client)
  subscribers.set(client.url, known)
  return known
}

async function metCustomer(client: Poster, key?: string): Promise<string> {
  const customer_email = `${randomUUID()}@example.com`
  const order = { amount: 1_000, currency: 'XOF', transaction_country: 'CI', customer_email }
  const { body } = (await client.post('/api/v1/payment-intents', order, given(key))) as Answered
  return String(body['customer'])
}

function given(key: string | undefined): { readonly key?: string } {
  return key === undefined ? {} : { key }
}

/** The token of another customer: the merchant's whose key it is. */
export async function customersToken(client: Poster, key?: string): Promise<string> {
  return (await openPortal(client, { customerId: await metCustomer(client, key) }, key)).token
}

/** The token of that customer's portal. */
export async function subscribersToken(client: Poster): Promise<string> {
  return (await openPortal(client, { customerId: await subscriber(client) })).token
}
