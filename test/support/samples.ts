import { randomUUID } from 'node:crypto'
import { examplesOf } from '../../packages/contract/openapi/operation.ts'
import { partsOf } from '../../packages/contract/openapi/names.ts'
import { objectName } from '../../packages/contract/resource.ts'
import type { AnyRoute } from '../../packages/contract/routes.ts'
import { routes } from '../../services/families.ts'
import { webhookRoster, webhookRosterId } from '../../packages/domain/webhook-endpoints/webhook-roster.ts'
import { readState } from '../../packages/kernel/history.ts'
import {
  makersOfBilling,
  namingOfBilling,
  pathsOfBilling,
  specialOfBilling,
} from './commerce/billing-samples.ts'
import { eventually } from './eventually.ts'
import type { TestService } from './service.ts'
import {
  emailChange,
  invitation,
  newcomer,
  ownerSession,
  proving,
  type Proven,
} from './identities/identity-samples.ts'
import { emailBefore, phoneChange } from './identities/phone-samples.ts'
import { somePasskey } from './identities/passkey-samples.ts'
import { challengeFor } from './identities/second-factors.ts'

type Body = Readonly<Record<string, unknown>>

/** A request that an operation accepts. */
export interface Sample extends Proven {
  readonly path: string
}

/** Operations whose body names a resource that must exist. */
const naming: Readonly<Record<string, (service: TestService) => Promise<Body>>> = {
  'POST /api/v1/webhook-replays': async (service) => ({
    event_id: await anEvent(service),
    reason: 'Lost on our side',
  }),
  'POST /api/test/payouts/callback': async (service) => ({
    payout_id: await made.payout(service),
    status: 'paid',
  }),
  ...namingOfBilling,
  'POST /api/test/mobile-money/callback': async (service) => ({
    payment_intent_id: await made.confirmedIntent(service),
    status: 'succeeded',
  }),
}

/**
 * Operations that cannot be repeated with the same body, or that would make the service call somewhere else.
 */
const own: Readonly<Record<string, () => Body>> = {
  'POST /api/v1/merchant/settings/payouts/destinations': () => ({ ...account, account_number: randomUUID() }),
  'POST /api/v1/auth/register': () => ({ ...newcomer, email: `${randomUUID()}@example.com` }),
  'POST /api/v1/merchant/team/invite': () => ({
    email: `${randomUUID()}@example.com`,
    role: 'developer',
  }),
  'POST /api/test/clock': () => ({ advance_seconds: 1 }),
  'POST /api/v1/webhook-endpoints': () => ({ url: nowhere(), enabled_events: ['payout.failed'] }),
}

/** An address on this machine where nothing listens. */
const nowhere = () => `http://127.0.0.1:9/${randomUUID()}`

const account = { type: 'bank', bank_code: 'CI093', account_name: 'Awa Koné' }

/** Creates one resource of each family over HTTP, and returns its id. */
const made = {
  async replay(service: TestService) {
    return idOf(service, '/api/v1/webhook-replays', { event_id: await anEvent(service) })
  },
  async payout(service: TestService) {
    return idOf(service, '/api/v1/payouts', { amount: 500, currency: 'XOF', destination: waiting })
  },
  async intent(service: TestService) {
    return idOf(service, '/api/v1/payment-intents', {
      ...payment,
      customer_email: `${randomUUID()}@example.com`,
    })
  },
  async confirmedIntent(service: TestService) {
    const id = await made.intent(service)
    const { type, ...mobile_money } = waiting
    await idOf(service, `/api/v1/payment-intents/${id}/confirm`, { payment_method: { type, mobile_money } })
    return id
  },
  async payment(service: TestService) {
    const id = await made.confirmedIntent(service)
    return idOf(service, '/api/test/mobile-money/callback', { payment_intent_id: id, status: 'succeeded' })
  },
  async refund(service: TestService) {
    return idOf(service, `/api/v1/merchant/payments/${await made.payment(service)}/refund`, {})
  },
  async customer(service: TestService) {
    const { body } = await service.get(`/api/v1/payment-intents/${await made.intent(service)}`)
    return String(body['customer'])
  },
  async operation(service: TestService) {
    const { body } = await service.get(`/api/v1/payment-intents/${await made.confirmedIntent(service)}`)
    return String(body['operation_id'])
  },
  async destination(service: TestService) {
    return idOf(service, '/api/v1/merchant/settings/payouts/destinations', {
      ...account,
      account_number: randomUUID(),
    })
  },
  async endpoint(service: TestService) {
    await makeRoom(service)
    return idOf(service, '/api/v1/webhook-endpoints', { url: nowhere() })
  },
  async session(service: TestService) {
    return idOf(service, '/api/v1/checkout/sessions', { amount: 5000, currency: 'XOF', country: 'CI' })
  },
  async paidSession(service: TestService) {
    const id = await made.session(service)
    const { type, ...mobile_money } = waiting
    const wish = { payment_method: { type, mobile_money } }
    const { body } = await service.post(`/api/checkout/${id}/pay`, wish)
    const paid = { payment_intent_id: body['payment_intent'], status: 'succeeded' }
    await idOf(service, '/api/test/mobile-money/callback', paid)
    return id
  },
  async link(service: TestService) {
    return idOf(service, '/api/v1/payment_links', { amount: 5000, currency: 'XOF', country: 'CI' })
  },
  async slug(service: TestService) {
    const { body } = await service.get(`/api/v1/payment_links/${await made.link(service)}`)
    return String(body['slug'])
  },
  async apiKey(service: TestService) {
    return idOf(service, '/api/v1/auth/api-keys', {
      name: 'Shop',
      environment: 'sandbox',
      scopes: ['balance.read'],
    })
  },
  async organization(service: TestService) {
    const unit = { displayName: 'Boutique Awa', country: 'CI', type: 'company' }
    return idOf(service, '/api/v1/organizations', unit)
  },
  async key(service: TestService) {
    const key = randomUUID()
    await service.post('/api/v1/payment-intents', payment, { headers: { 'idempotency-key': key } })
    return key
  },
}

/** No magic number: it waits for the operator's answer. */
const waiting = { type: 'mobile_money', country: 'CI', operator: 'orange_money', msisdn: '+2250700000042' }
const payment = { amount: 5000, currency: 'XOF', transaction_country: 'CI' }

/**
 * How to create a resource that no request of the table creates by itself, by the object that a path names.
 */
const makers: Readonly<Record<string, (service: TestService) => Promise<string>>> = {
  payout: made.payout,
  payment_intent: made.intent,
  payment: made.payment,
  refund: made.refund,
  customer: made.customer,
  payout_destination: made.destination,
  webhook_endpoint: made.endpoint,
  webhook_replay: made.replay,
  event: anEvent,
  challenge: async (service) => challengeFor(service, await ownerSession(service), 'change_email'),
  user_session: async (service) => (await ownerSession(service)).session,
  checkout_session: made.session,
  payment_link: made.link,
  api_key: made.apiKey,
  organization: made.organization,
  invitation,
  operation: made.operation,
  ...makersOfBilling,
  text: made.key,
}

/** Operations whose path takes a text that is no idempotency key, or a resource that has gone some way. */
const special: Readonly<Record<string, (service: TestService) => Promise<string>>> = {
  'GET /api/v1/auth/email-change/requests/{id}': async (service) =>
    emailChange(service, await ownerSession(service)),
  'GET /api/v1/auth/phone-change/requests/{id}': async (service) =>
    phoneChange(service, await ownerSession(service)),
  'GET /api/v1/auth/pre-signup/challenges/{id}': (service) => emailBefore(service),
  'GET /api/v1/auth/passkeys/{id}': ownersPasskey,
  'PATCH /api/v1/auth/passkeys/{id}': ownersPasskey,
  'DELETE /api/v1/auth/passkeys/{id}': ownersPasskey,
  'GET /api/v1/audit/receipts/{id}': async (service) => {
    // Nothing follows on it: the next event would first have to be signed.
    const id = await made.intent(service)
    const isSigned = async () => (await service.get(`/api/v1/audit/receipts/${id}`)).status === 200
    await eventually(isSigned, (signed) => signed)
    return id
  },
  'GET /api/v1/audit/months/{month}': async (service) => {
    const { body } = await service.post('/api/v1/audit/months', { month: '2020-01' })
    return String(body['month'])
  },
  'GET /pay/{slug}': made.slug,
  ...specialOfBilling,
  'GET /api/checkout/{sessionId}/receipt': made.paidSession,
}

type Ids = Readonly<Record<string, string>>

/**
 * Creates a resource and returns its id: without a maker of its own, by the row that creates it. A child is
 * created in the parents given, by their kinds, or else in new ones.
 */
export async function makeResource(service: TestService, kind: string, parents: Ids = {}): Promise<string> {
  const known = makers[kind]
  if (known) return known(service)
  const creator = routes.find((row) => row.kind === 'create' && objectName(row.returns) === kind)
  if (!creator) throw new Error(`test/support/samples.ts makes no ${kind}`)
  return idOf(service, await filledPath(service, creator, parents), usualBody(creator)!)
}

/** The path with resources that exist, each in the one that stands before it. */
async function filledPath(service: TestService, route: AnyRoute, parents: Ids = {}): Promise<string> {
  const ids: Record<string, string> = { ...parents }
  let { path } = partsOf(route)
  for (const [name, kinds] of Object.entries(route.params ?? {})) {
    const kind = [kinds].flat()[0]!
    ids[kind] ??= await (special[route.operation]?.(service) ?? makeResource(service, kind, ids))
    path = path.replace(`{${name}}`, ids[kind])
  }
  return path
}

/** More samples modify an endpoint than one environment has slots for. */
async function makeRoom({ service: { runtime, credentials } }: TestService): Promise<void> {
  const { executor, store } = runtime.dependencies
  const owner = { merchant: credentials.merchant_id, livemode: false }
  const id = webhookRosterId(owner)
  const roster = await readState(store, webhookRoster, id)
  const endpoints = roster.status === 'open' ? roster.slots.map(({ endpoint }) => endpoint) : []
  if (endpoints.length < 10) return
  const envelope = { ...owner, actor: 'test', correlation: 'test' }
  await executor.send(webhookRoster, id, { type: 'FreeSlots', data: { endpoints } }, envelope)
}

export function namesResource(route: AnyRoute): boolean {
  return route.operation.includes('{') || route.operation in naming
}

/** A request with resources of its own. Bodies are those of the documentation. */
export async function sample(service: TestService, route: AnyRoute): Promise<Sample> {
  const { path } = partsOf(route)
  const proven = await (proving[route.operation] ?? pathsOfBilling[route.operation])?.(service)
  if (proven) return { path, ...proven }
  const body = await (naming[route.operation]?.(service) ?? usualBody(route))
  if (!path.includes('{')) return { path, ...(body && { body }) }
  return { path: await filledPath(service, route), ...(body && { body }) }
}

/** A well-formed request that names what does not exist. */
export function unknownSample(route: AnyRoute): Sample {
  const path = partsOf(route).path.replaceAll(/\{\w+\}/g, () => randomUUID())
  const body = usualBody(route)
  return { path, ...(body && { body }) }
}

function usualBody(route: AnyRoute): Body | undefined {
  if (!route.body) return undefined
  const made = own[route.operation]
  if (made) return made()
  const { value } = Object.values(examplesOf(route, route.body))[0]!
  return structuredClone(value) as Body
}

async function idOf(service: TestService, path: string, body: Body): Promise<string> {
  const answer = await service.post(path, body)
  if (answer.status >= 300) throw new Error(`POST ${path} answers ${JSON.stringify(answer.body)}`)
  return String(answer.body['id'])
}

async function ownersPasskey(service: TestService): Promise<string> {
  return somePasskey(service, await ownerSession(service))
}

async function anEvent(service: TestService): Promise<string> {
  await made.intent(service)
  const feed = await eventually(
    () => service.get<{ data: readonly { id: string }[] }>('/api/v1/events'),
    ({ body }) => body.data.length > 0,
  )
  return feed.body.data[0]!.id
}
