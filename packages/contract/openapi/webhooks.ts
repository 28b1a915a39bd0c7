import { exampleIds, exampleOf } from './examples.ts'
import { pascal } from './names.ts'
import type { Json, NamedSchemas } from './schemas.ts'
import { record, Type, UnixSeconds, type TSchema } from '../vocabulary.ts'
import type { PublicSource } from '../webhooks/public-events.ts'
import type {} from '../routes.ts'
import type { Section } from '../section.ts'
import type { WebhookType } from '../webhooks/webhook-types.ts'

/** The section of webhooks in the document. */
export const webhookSection: Section = {
  tag: 'Webhook events',
  description:
    'What is posted to your endpoints. Answer with any 2xx status within 15 seconds; anything else is ' +
    'retried after 5 min, 30 min, 2 h, 8 h and 24 h.',
}

/** All public events, as posted to endpoints. */
export function webhooksOf(sources: readonly PublicSource[], schemas: NamedSchemas): Json {
  const told = sources.flatMap(({ types, data }) =>
    Object.entries(types).map(([type, meaning]) => ({ type, meaning, data }) as Told),
  )
  return Object.fromEntries(told.map((one) => [one.type, { post: webhookOf(one, schemas) }]))
}

interface Told {
  readonly type: WebhookType
  readonly meaning: string
  readonly data: TSchema
}

function webhookOf({ type, meaning, data }: Told, schemas: NamedSchemas): Json {
  const [, happening = ''] = type.split('.')
  const example = {
    ...(exampleOf(envelope(type, data), { id: exampleIds.of('evt'), type, api_version: 'v1' }) as object),
    data: exampleOf(data, { status: happening.replace(/^payment_/, ''), ...consequences[happening] }),
  }
  return {
    operationId: `on${pascal(type)}`,
    tags: [webhookSection.tag],
    summary: type,
    description: meaning,
    security: [],
    parameters: signatureHeaders.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemas.answered(envelope(type, data)), example } },
    },
    responses: {
      '2XX': { description: 'Taken. Anything else is retried.' },
      '410': { description: 'Turns the endpoint off.' },
    },
  }
}

/** What else the resource shows after this event. */
const consequences: Readonly<Record<string, Json>> = {
  failed: { failure_code: 'could_not_process', failure_message: 'The operator could not process it' },
  payment_failed: {
    failure_code: 'insufficient_funds',
    failure_message: 'The balance of the payer does not cover the amount',
  },
  delayed: {
    status: 'in_transit',
    delay_state: 'delayed',
    delay_reason: 'operator_pending',
    delayed_at: '2026-01-01T00:10:00.000Z',
  },
  canceled: { canceled_at: '2026-01-01T00:00:30.000Z' },
  failing: { status: 'failing' },
  disabled: { status: 'disabled', enabled: false },
  deleted: { status: 'removed' },
}

/** The name of a payload: `payout.paid` is a `PayoutPaidEvent`. */
const eventName = (type: string) => `${pascal(type)}Event`

/** Names each event's payload, so that clients get a type for each. */
export function nameEvents(sources: readonly PublicSource[], schemas: NamedSchemas): void {
  for (const { types, data } of sources) {
    for (const type of Object.keys(types) as WebhookType[])
      schemas.name(eventName(type), envelope(type, data))
  }
}

/** Any delivery: `type` says which. */
export function webhookEvent(sources: readonly PublicSource[]): Json {
  const types = sources.flatMap(({ types: own }) => Object.keys(own))
  const refOf = (type: string) => `#/components/schemas/${eventName(type)}`
  return {
    description: 'What is posted to a webhook endpoint',
    oneOf: types.map((type) => ({ $ref: refOf(type) })),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(types.map((type) => [type, refOf(type)])),
    },
  }
}

/** Spec, Webhook event. Inferred: `livemode`, `api_version` and `sequence`. */
function envelope(type: WebhookType, data: TSchema): TSchema {
  return record({
    id: Type.String({ description: 'Id of the event: the same in every retry and replay' }),
    type: Type.Unsafe<string>({ type: 'string', const: type, description: 'What happened' }),
    created: UnixSeconds,
    livemode: Type.Boolean({ description: 'False in sandbox' }),
    api_version: Type.String(),
    sequence: Type.Integer({ description: "Grows along the merchant's events; not without gaps" }),
    data,
  })
}

const signatureHeaders = [
  'WebhookId',
  'WebhookTimestamp',
  'WebhookSignature',
  'IkwSignature',
  'WebhookReplay',
] as const

/** A delivery's headers. */
export const webhookParameters: Json = {
  WebhookId: header(
    'webhook-id',
    'Id of the event. The same event may come more than once: deduplicate by it',
    exampleIds.of('evt'),
  ),
  WebhookTimestamp: header(
    'webhook-timestamp',
    'Unix seconds of this attempt; refuse what is older than 300 s',
    '1767225600',
  ),
  WebhookSignature: header(
    'webhook-signature',
    'Standard Webhooks: `v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`; several, separated by ' +
      'spaces, after a rotation',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
  IkwSignature: header(
    'Ikw-Signature',
    'The same without base64: `t=<unix>,v1=<hex>` of HMAC-SHA256 over `t.body`, with the whole secret as key',
    't=1767225600,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
  ),
  WebhookReplay: {
    ...header('webhook-replay', 'Only on a replay', 'true'),
    required: false,
  },
}

function header(name: string, description: string, example: string): Json {
  return { name, in: 'header', required: true, description, schema: { type: 'string' }, example }
}
