import { change, create, history, list, listItems, show } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import {
  endpointExamples,
  replayExamples,
  revisionExamples,
  rotationExamples,
} from '../../../packages/domain/webhook-endpoints/examples.ts'
import {
  NewWebhookEndpointResource,
  SecretRotation,
  viewNewWebhookEndpoint,
  viewWebhookEndpoint,
  viewWebhookEndpointSecret,
  viewWebhookReplay,
  WebhookEndpointRequest,
  WebhookEndpointResource,
  WebhookEndpointRevision,
  WebhookEndpointSecretResource,
  WebhookReplayRequest,
  WebhookReplayResource,
} from '../../../packages/domain/webhook-endpoints/resource.ts'
import { webhookEndpoint } from '../../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import { webhookReplay } from '../../../packages/domain/webhook-endpoints/webhook-replay.ts'
import { webhookEndpoints, webhookReplays } from '../../../projections/webhook-endpoints.ts'
import {
  now,
  prepareRegistration,
  prepareRevision,
  prepareRotation,
  secretAndNow,
} from '../actions/webhooks/webhook-endpoints.ts'
import {
  deliveriesTo,
  DeliveryQuery,
  WebhookDeliveryResource,
} from '../actions/webhooks/webhook-deliveries.ts'
import { prepareReplay } from '../actions/webhooks/webhook-replays.ts'

const viewed = { view: viewWebhookEndpoint, beside: now, returns: WebhookEndpointResource } as const
const read = { ...viewed, scope: 'webhooks.read', from: webhookEndpoints } as const
const write = { scope: 'webhooks.write', decider: webhookEndpoint } as const
const params = { id: 'webhook_endpoint' }

const replayed = { view: viewWebhookReplay, returns: WebhookReplayResource } as const
const replay = {
  ...replayed,
  scope: 'webhooks.read',
  params: { id: 'webhook_replay' },
  from: webhookReplays,
} as const

const rows = [
  create('POST /api/v1/webhook-endpoints', {
    ...write,
    summary: 'Register an endpoint; its secret is shown once, and the URL is not contacted',
    body: WebhookEndpointRequest,
    examples: endpointExamples,
    command: 'RegisterEndpoint',
    prepare: prepareRegistration,
    view: viewNewWebhookEndpoint,
    beside: secretAndNow,
    returns: NewWebhookEndpointResource,
    showsSecret: true,
    refusals: [
      'webhook_url_must_be_acceptable',
      'webhook_event_type_must_be_known',
      'webhook_endpoints_must_not_be_too_many',
    ],
  }),

  list('GET /api/v1/webhook-endpoints', {
    ...read,
    summary: 'Endpoints of this environment',
    paging: 'cursor',
  }),

  show('GET /api/v1/webhook-endpoints/{id}', {
    ...read,
    params,
    summary: 'One endpoint, with the last four characters of its secret',
  }),

  change('POST /api/v1/webhook-endpoints/{id}', {
    ...write,
    ...viewed,
    params,
    summary: 'Change URL or events, or turn the endpoint on or off',
    body: WebhookEndpointRevision,
    examples: revisionExamples,
    command: 'ReviseEndpoint',
    prepare: prepareRevision,
    refusals: [
      'webhook_url_must_be_acceptable',
      'webhook_event_type_must_be_known',
      'webhook_endpoints_must_not_be_too_many',
    ],
  }),

  change('POST /api/v1/webhook-endpoints/{id}/rotate_secret', {
    ...write,
    params,
    summary: 'Make a new secret, which signs at once and is shown once; the old one signs as well for a day',
    body: SecretRotation,
    examples: rotationExamples,
    command: 'RotateSecret',
    prepare: prepareRotation,
    view: viewWebhookEndpointSecret,
    beside: secretAndNow,
    returns: WebhookEndpointSecretResource,
    showsSecret: true,
  }),

  change('POST /api/v1/webhook-endpoints/{id}/test', {
    ...write,
    ...viewed,
    params,
    summary: 'Send a `webhook_endpoint.test` event to this endpoint alone, whatever it is enabled for',
    inferred: true,
    command: 'TestEndpoint',
    data: () => ({}),
    refusals: ['webhook_endpoint_must_be_enabled'],
  }),

  listItems('GET /api/v1/webhook-endpoints/{id}/deliveries', {
    summary: 'What an endpoint was sent, how often, and what it answered last; newest events first',
    scope: 'webhooks.read',
    params,
    inferred: true,
    query: DeliveryQuery,
    returns: WebhookDeliveryResource,
    items: deliveriesTo,
  }),

  history('GET /api/v1/webhook-endpoints/{id}/history', { ...read, params }),

  create('POST /api/v1/webhook-replays', {
    summary: 'Send past events again: one event, or what an endpoint missed in 30 days',
    scope: 'webhooks.write',
    body: WebhookReplayRequest,
    examples: replayExamples,
    status: 202,
    decider: webhookReplay,
    command: 'RequestReplay',
    prepare: prepareReplay,
    ...replayed,
    refusals: [
      'replay_must_name_an_event_or_an_endpoint',
      'resource_must_exist',
      'webhook_endpoint_must_be_enabled',
    ],
  }),

  show('GET /api/v1/webhook-replays/{id}', {
    ...replay,
    summary: 'How far a replay has come',
    inferred: true,
  }),

  history('GET /api/v1/webhook-replays/{id}/history', replay),
]

export const webhookEndpointRoutes = section(
  'Webhook endpoints',
  'Where signed notifications are sent. The signing secret is answered in full once, on creation and ' +
    'on rotation. See [how to verify a signature](/docs/webhooks).',
  rows,
)
