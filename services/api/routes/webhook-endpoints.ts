import { change, list, perform, show } from '../../../packages/contract/routes.ts'
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
  viewWebhookEndpoint,
  viewWebhookReplay,
  WebhookEndpointRequest,
  WebhookEndpointResource,
  WebhookEndpointRevision,
  WebhookEndpointSecretResource,
  WebhookReplayRequest,
  WebhookReplayResource,
} from '../../../packages/domain/webhook-endpoints/resource.ts'
import {
  webhookEndpoint,
  type WebhookEndpoint,
} from '../../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import { webhookReplay } from '../../../packages/domain/webhook-endpoints/webhook-replay.ts'
import { webhookEndpoints, webhookReplays } from '../../../projections/webhook-endpoints.ts'
import { registerEndpoint, reviseEndpoint, rotateSecret } from '../actions/webhook-endpoints.ts'
import { Deliveries, DeliveryQuery, listDeliveriesTo } from '../actions/webhook-deliveries.ts'
import { requestReplay } from '../actions/webhook-replays.ts'

/** Whether an older secret still signs depends on the time of the request. */
const view = (id: string, state: WebhookEndpoint) => viewWebhookEndpoint(id, state, new Date())

const params = { id: 'webhook_endpoint' }

const one = {
  scope: 'webhooks.read',
  from: webhookEndpoints,
  view,
  returns: WebhookEndpointResource,
} as const

const rows = [
  perform('POST /api/v1/webhook-endpoints', {
    summary: 'Register an endpoint; its secret is shown once, and the URL is not contacted',
    scope: 'webhooks.write',
    body: WebhookEndpointRequest,
    examples: endpointExamples,
    returns: NewWebhookEndpointResource,
    status: 201,
    showsSecret: true,
    refusals: [
      'webhook_url_must_be_acceptable',
      'webhook_event_type_must_be_known',
      'webhook_endpoints_must_not_be_too_many',
    ],
    action: registerEndpoint,
  }),

  list('GET /api/v1/webhook-endpoints', {
    ...one,
    summary: 'Endpoints of this environment',
    paging: 'cursor',
  }),

  show('GET /api/v1/webhook-endpoints/{id}', {
    ...one,
    params,
    summary: 'One endpoint, with the last four characters of its secret',
  }),

  perform('POST /api/v1/webhook-endpoints/{id}', {
    isChange: true,
    summary: 'Change URL or events, or turn the endpoint on or off',
    scope: 'webhooks.write',
    params,
    body: WebhookEndpointRevision,
    examples: revisionExamples,
    returns: WebhookEndpointResource,
    refusals: [
      'resource_must_exist',
      'webhook_url_must_be_acceptable',
      'webhook_event_type_must_be_known',
      'webhook_endpoints_must_not_be_too_many',
    ],
    action: reviseEndpoint,
  }),

  perform('POST /api/v1/webhook-endpoints/{id}/rotate_secret', {
    isChange: true,
    summary: 'Make a new secret, which signs at once and is shown once; the old one signs as well for a day',
    scope: 'webhooks.write',
    params,
    body: SecretRotation,
    examples: rotationExamples,
    returns: WebhookEndpointSecretResource,
    showsSecret: true,
    refusals: ['resource_must_exist'],
    action: rotateSecret,
  }),

  change('POST /api/v1/webhook-endpoints/{id}/test', {
    summary: 'Send a `webhook_endpoint.test` event to this endpoint alone, whatever it is enabled for',
    scope: 'webhooks.write',
    params: { id: 'webhook_endpoint' },
    inferred: true,
    decider: webhookEndpoint,
    command: 'TestEndpoint',
    data: () => ({}),
    view,
    returns: WebhookEndpointResource,
    refusals: ['webhook_endpoint_must_be_enabled'],
  }),

  perform('GET /api/v1/webhook-endpoints/{id}/deliveries', {
    summary: 'What an endpoint was sent, how often, and what it answered last; newest events first',
    scope: 'webhooks.read',
    params,
    inferred: true,
    query: DeliveryQuery,
    returns: Deliveries,
    refusals: ['resource_must_exist'],
    action: listDeliveriesTo,
  }),

  perform('POST /api/v1/webhook-replays', {
    summary: 'Send past events again: one event, or what an endpoint missed in 30 days',
    scope: 'webhooks.write',
    body: WebhookReplayRequest,
    examples: replayExamples,
    returns: WebhookReplayResource,
    status: 202,
    creates: { decider: webhookReplay, view: viewWebhookReplay },
    refusals: [
      'replay_must_name_an_event_or_an_endpoint',
      'resource_must_exist',
      'webhook_endpoint_must_be_enabled',
    ],
    action: requestReplay,
  }),

  show('GET /api/v1/webhook-replays/{id}', {
    summary: 'How far a replay has come',
    scope: 'webhooks.read',
    params: { id: 'webhook_replay' },
    inferred: true,
    from: webhookReplays,
    view: viewWebhookReplay,
    returns: WebhookReplayResource,
  }),
]

export const webhookEndpointRoutes = section(
  'Webhook endpoints',
  'Where signed notifications are sent. The signing secret is answered in full once, on creation and ' +
    'on rotation. See [how to verify a signature](/docs/webhooks).',
  rows,
)
