import { begun, existing } from '../../contract/existing.ts'
import { matches } from '../../contract/webhooks/webhook-types.ts'
import { refuse } from '../../contract/refusals.ts'
import { literals, nullable, record, Timestamp, Type } from '../../contract/vocabulary.ts'
import type { Decider, Message } from '../../kernel/decider.ts'
import { stored, withoutStamp, type EventsOf } from '../../kernel/event-types.ts'

// Events. Secrets arrive sealed; only their last four characters are in the clear.

const Selections = Type.Array(Type.String())
const Secret = { sealedSecret: Type.String(), secretLast4: Type.String() }

export const webhookEndpointEvents = {
  WebhookEndpointRegistered: stored(2, record({ url: Type.String(), enabledEvents: Selections, ...Secret }), {
    1: withoutStamp,
  }),
  WebhookEndpointRevised: stored(2, record({ url: Type.String(), enabledEvents: Selections }), {
    1: withoutStamp,
  }),
  /** `event` is the public event that was answered 410; null when the merchant disabled the endpoint. */
  WebhookEndpointDisabled: stored(
    3,
    record({ reason: literals('merchant', 'gone'), event: nullable(Type.String()) }),
    { 1: (older) => ({ ...older, event: null }), 2: withoutStamp },
  ),
  WebhookEndpointEnabled: stored(2, record({}), { 1: withoutStamp }),
  WebhookEndpointSecretRotated: stored(2, record({ ...Secret, previousUntil: Timestamp }), {
    1: withoutStamp,
  }),
  /** The same secrets under another master key; the older ones in order. */
  WebhookEndpointSecretsResealed: stored(
    2,
    record({ sealedSecret: Type.String(), previous: Type.Array(Type.String()) }),
    { 1: withoutStamp },
  ),
  WebhookEndpointMarkedFailing: stored(2, record({ event: Type.String() }), { 1: withoutStamp }),
  WebhookEndpointRecovered: stored(2, record({}), { 1: withoutStamp }),
  WebhookEndpointTested: stored(1, record({})),
}

export type WebhookEndpointEvents = EventsOf<typeof webhookEndpointEvents>

// State

export interface SigningSecret {
  readonly sealed: string
  readonly last4: string
  readonly createdAt: string
}

interface Details {
  readonly merchant: string
  readonly livemode: boolean
  readonly url: string
  readonly enabledEvents: readonly string[]
  readonly secret: SigningSecret
  /** Older secrets that also sign until a time, newest first. */
  readonly previous: readonly { readonly sealed: string; readonly until: string }[]
  readonly registeredAt: string
  readonly rotatedAt: string | null
}

export type WebhookEndpoint =
  | { readonly status: 'none' }
  | (Details & { readonly status: 'active' })
  /** `event` is the public event that was answered 410, if that was the reason. */
  | (Details & { readonly status: 'disabled'; readonly event: string | null; readonly disabledAt: string })
  /** `event` is the public event whose last retry failed. */
  | (Details & { readonly status: 'failing'; readonly event: string })

export type RegisteredWebhookEndpoint = Exclude<WebhookEndpoint, { status: 'none' }>

// Decisions

export type WebhookEndpointCommands = {
  RegisterEndpoint: {
    url: string
    enabledEvents: readonly string[]
    sealedSecret: string
    secretLast4: string
  }
  /** Refused when the endpoint would get any of the `hidden` events. */
  ReviseEndpoint: {
    url?: string | undefined
    enabledEvents?: readonly string[] | undefined
    enabled?: boolean | undefined
    hidden?: HiddenEvents
  }
  /** The URL that answered this event with 410. It may have been replaced since. */
  DisableGoneEndpoint: { url: string; event: string }
  RotateSecret: { sealedSecret: string; secretLast4: string; overlapSeconds: number }
  /** Secrets as currently sealed, and newly sealed. */
  ResealSecrets: { resealed: Readonly<Record<string, string>> }
  MarkFailing: { event: string }
  RecoverEndpoint: object
  TestEndpoint: object
}

export const webhookEndpoint: Decider<WebhookEndpoint, WebhookEndpointCommands, WebhookEndpointEvents> = {
  category: 'webhook_endpoint',
  time: 'real',
  events: webhookEndpointEvents,
  initial: () => ({ status: 'none' }),

  decide: {
    RegisterEndpoint({ url, enabledEvents, sealedSecret, secretLast4 }, { status }) {
      if (status !== 'none') return []
      const data = { url, enabledEvents: [...enabledEvents], sealedSecret, secretLast4 }
      return [{ type: 'WebhookEndpointRegistered', data }]
    },

    ReviseEndpoint({ url, enabledEvents, enabled, hidden = {} }, state) {
      const current = existing(state)
      const next = { url: url ?? current.url, enabledEvents: [...(enabledEvents ?? current.enabledEvents)] }
      requireVisible(next.enabledEvents, hidden)
      const isSame = next.url === current.url && sameList(next.enabledEvents, current.enabledEvents)
      const revised = isSame ? [] : [{ type: 'WebhookEndpointRevised', data: next } as const]
      return [...revised, ...switched(current, enabled)]
    },

    DisableGoneEndpoint({ url, event }, state) {
      const current = existing(state)
      if (current.status === 'disabled' || current.url !== url) return []
      return [{ type: 'WebhookEndpointDisabled', data: { reason: 'gone', event } }]
    },

    RotateSecret({ sealedSecret, secretLast4, overlapSeconds }, state, { now }) {
      if (existing(state).secret.sealed === sealedSecret) return []
      const previousUntil = new Date(now.getTime() + overlapSeconds * 1_000).toISOString()
      const data = { sealedSecret, secretLast4, previousUntil }
      return [{ type: 'WebhookEndpointSecretRotated', data }]
    },

    ResealSecrets({ resealed }, state) {
      const { secret, previous } = existing(state)
      const after = ({ sealed }: { sealed: string }) => resealed[sealed] ?? sealed
      if (![secret, ...previous].some(({ sealed }) => sealed in resealed)) return []
      const data = { sealedSecret: after(secret), previous: previous.map(after) }
      return [{ type: 'WebhookEndpointSecretsResealed', data }]
    },

    MarkFailing({ event }, state) {
      if (existing(state).status !== 'active') return []
      return [{ type: 'WebhookEndpointMarkedFailing', data: { event } }]
    },

    RecoverEndpoint(_, state) {
      if (existing(state).status !== 'failing') return []
      return [{ type: 'WebhookEndpointRecovered', data: {} }]
    },

    TestEndpoint(_, state) {
      if (existing(state).status === 'disabled') refuse('webhook_endpoint_must_be_enabled')
      return [{ type: 'WebhookEndpointTested', data: {} }]
    },
  },

  evolve: {
    WebhookEndpointRegistered: (
      _,
      { url, enabledEvents, sealedSecret, secretLast4 },
      { merchant, livemode, at },
    ) => ({
      status: 'active',
      merchant,
      livemode,
      url,
      enabledEvents,
      secret: { sealed: sealedSecret, last4: secretLast4, createdAt: at },
      previous: [],
      registeredAt: at,
      rotatedAt: null,
    }),
    WebhookEndpointRevised: (state, { url, enabledEvents }) => ({ ...begun(state), url, enabledEvents }),
    WebhookEndpointDisabled: (state, { event }, { at }) => ({
      ...details(state),
      status: 'disabled',
      event,
      disabledAt: at,
    }),
    WebhookEndpointEnabled: (state) => ({ ...details(state), status: 'active' }),
    WebhookEndpointSecretRotated: (state, rotation, { at }) => ({
      ...begun(state),
      ...afterRotation(begun(state), { ...rotation, at }),
    }),
    WebhookEndpointSecretsResealed: (state, { sealedSecret, previous: sealed }) => {
      const { secret, previous, ...rest } = begun(state)
      return {
        ...rest,
        secret: { ...secret, sealed: sealedSecret },
        previous: previous.map(({ until }, index) => ({ sealed: sealed[index]!, until })),
      }
    },
    WebhookEndpointMarkedFailing: (state, { event }) => ({ ...details(state), status: 'failing', event }),
    WebhookEndpointRecovered: (state) => ({ ...details(state), status: 'active' }),
    WebhookEndpointTested: (state) => state,
  },
}

/** Turned on or off, where it is not so already. */
function switched(
  { status }: RegisteredWebhookEndpoint,
  enabled: boolean | undefined,
): readonly Message<WebhookEndpointEvents>[] {
  if (enabled === undefined || enabled === (status !== 'disabled')) return []
  if (enabled) return [{ type: 'WebhookEndpointEnabled', data: {} }]
  return [{ type: 'WebhookEndpointDisabled', data: { reason: 'merchant', event: null } }]
}

/** Types of events that a caller may not see, with the scope that each takes. */
export type HiddenEvents = Readonly<Record<string, string>>

/** Decided with the change itself: meanwhile somebody else may have enabled the endpoint for more. */
export function requireVisible(enabledEvents: readonly string[], hidden: HiddenEvents): void {
  const found = Object.entries(hidden).find(([type]) => matches(enabledEvents, type))
  if (!found) return
  const [type, scope] = found
  refuse('credential_must_have_the_scope', { detail: `Credential lacks the scope ${scope} for ${type}` })
}

/** What an endpoint's secrets are bound to: in another endpoint's history they do not open. */
export function secretContext(id: string): string {
  return `webhook_endpoint/${id}`
}

/**
 * Inferred: enough for a rotation repeated several times by mistake; each signature lengthens the headers.
 */
const previousSecretsMax = 4

type Rotation = WebhookEndpointEvents['WebhookEndpointSecretRotated'] & { readonly at: string }

/** A secret never signs longer than its successor, so revoking one at once revokes all earlier ones. */
function afterRotation(
  { secret, previous }: Details,
  { sealedSecret, secretLast4, previousUntil, at }: Rotation,
): Pick<Details, 'secret' | 'previous' | 'rotatedAt'> {
  const older = [{ sealed: secret.sealed, until: previousUntil }, ...previous]
    .map(({ sealed, until }) => ({ sealed, until: until < previousUntil ? until : previousUntil }))
    .filter(({ until }) => until > at)
    .slice(0, previousSecretsMax)
  return {
    secret: { sealed: sealedSecret, last4: secretLast4, createdAt: at },
    previous: older,
    rotatedAt: at,
  }
}

function sameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index])
}

/** The fields that a change of status keeps. */
function details(state: WebhookEndpoint): Details {
  const { merchant, livemode, url, enabledEvents, secret, previous, registeredAt, rotatedAt } = begun(state)
  return { merchant, livemode, url, enabledEvents, secret, previous, registeredAt, rotatedAt }
}
