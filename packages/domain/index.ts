import type { Family } from '../contract/family.ts'
import type { HoldOwner } from '../contract/hold-owners.ts'
import type { PublicSource } from '../contract/webhooks/public-events.ts'
import type { RefusalName } from '../contract/refusals.ts'
import type { Scope } from '../contract/access/scopes.ts'
import type { WebhookType } from '../contract/webhooks/webhook-types.ts'
import type { AnyDecider } from '../kernel/decider.ts'
import type { AnyPolicy } from '../kernel/policy.ts'
import type { EventTypes } from '../kernel/event-types.ts'
import { apiKeys } from './api-keys/index.ts'
import { balances } from './balances/index.ts'
import { brandings } from './branding/index.ts'
import { cases } from './cases/index.ts'
import { challenges } from './challenges/index.ts'
import { checkout } from './checkout/index.ts'
import { claims } from './claims/index.ts'
import { customers } from './customers/index.ts'
import { invoices } from './invoices/index.ts'
import { interventions } from './interventions/index.ts'
import { invitations } from './invitations/index.ts'
import { ledger } from './ledger/index.ts'
import { logKeys } from './log-keys/index.ts'
import { merchants } from './merchants/index.ts'
import { paymentIntents } from './payment-intents/index.ts'
import { paymentLinks } from './payment-links/index.ts'
import { payouts } from './payouts/index.ts'
import { periods } from './periods/index.ts'
import { plans } from './plans/index.ts'
import { portal } from './portal/index.ts'
import { products } from './products/index.ts'
import { sandboxClocks } from './sandbox-clocks/index.ts'
import { organizations } from './organizations/index.ts'
import { sessions } from './sessions/index.ts'
import { signIn } from './sign-in/index.ts'
import { users } from './users/index.ts'
import { refunds } from './refunds/index.ts'
import { subscriptions } from './subscriptions/index.ts'
import { usage } from './usage/index.ts'
import { transfers } from './transfers/index.ts'
import { statements } from './statements/index.ts'
import { wallets } from './wallets/index.ts'
import { webhookEndpoints } from './webhook-endpoints/index.ts'

/** Every family, in the order of the reference. */
export const families: readonly Family[] = [
  merchants,
  apiKeys,
  ledger,
  paymentIntents,
  checkout,
  paymentLinks,
  brandings,
  payouts,
  refunds,
  balances,
  transfers,
  customers,
  products,
  plans,
  subscriptions,
  usage,
  invoices,
  portal,
  wallets,
  webhookEndpoints,
  cases,
  claims,
  sandboxClocks,
  interventions,
  periods,
  statements,
  logKeys,
  users,
  challenges,
  sessions,
  signIn,
  organizations,
  invitations,
]

/** Every kind of stream. */
export const deciders: readonly AnyDecider[] = families.flatMap(({ streams }) => streams)

/** Every type of event, by name. */
export const storedTypes: EventTypes = Object.assign(
  {},
  ...deciders.map(({ events }) => events),
) as EventTypes

export const policies: readonly AnyPolicy[] = families.flatMap((family) => family.policies ?? [])

/** Every kind of stream that money is held for, by category. */
export const holdOwners: ReadonlyMap<string, HoldOwner> = new Map(
  families.flatMap((family) => (family.holdOwners ?? []).map((owner) => [owner.decider.category, owner])),
)

export const publicSources: readonly PublicSource[] = families.flatMap((family) => family.publicEvents ?? [])

/** The meaning of each public event. */
export const webhookTypes: Readonly<Record<WebhookType, string>> = Object.assign(
  {},
  ...publicSources.map(({ types }) => types),
) as Readonly<Record<WebhookType, string>>

/** Who may see a public event: whoever may read the resource it is about. */
export const readScopes: ReadonlyMap<string, Scope> = new Map(
  publicSources.flatMap(({ types, scope }) => Object.keys(types).map((type) => [type, scope] as const)),
)

/** The prefix of each kind of public id. */
export const idPrefixes: Readonly<Record<string, string>> = Object.assign(
  {},
  ...families.map(({ ids }) => ids),
) as Readonly<Record<string, string>>

/** How a missing one is refused, where not as `resource_must_exist`. */
export const missing: Readonly<Record<string, RefusalName>> = Object.assign(
  {},
  ...families.map((family) => family.missing),
) as Readonly<Record<string, RefusalName>>

export const scopes: readonly Scope[] = [...new Set(families.flatMap((family) => family.scopes ?? []))]
