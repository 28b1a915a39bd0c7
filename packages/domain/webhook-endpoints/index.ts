import type { Family } from '../../contract/family.ts'
import { publicEvents } from '../../contract/webhooks/public-events.ts'
import { viewWebhookEndpoint, WebhookEndpointResource } from './resource.ts'
import { webhookEndpoint } from './webhook-endpoint.ts'
import { webhookReplay } from './webhook-replay.ts'
import { webhookRoster } from './webhook-roster.ts'

const told = publicEvents(webhookEndpoint, {
  scope: 'webhooks.read',
  types: {
    'webhook_endpoint.failing': 'Another endpoint was marked as failing, because its last retry failed.',
    'webhook_endpoint.disabled': 'Another endpoint was turned off, because it answered 410.',
    'webhook_endpoint.recovered': 'Another endpoint that was failing has taken a delivery.',
    'webhook_endpoint.test':
      'You asked for a test: sent to the endpoint that is tested alone, whatever it is enabled for.',
  },
  events: {
    WebhookEndpointMarkedFailing: 'webhook_endpoint.failing',
    // A merchant needs no notice of what it does to an endpoint itself.
    WebhookEndpointDisabled: ({ data }) => (data.reason === 'gone' ? 'webhook_endpoint.disabled' : undefined),
    WebhookEndpointRecovered: 'webhook_endpoint.recovered',
    WebhookEndpointTested: 'webhook_endpoint.test',
  },
  returns: WebhookEndpointResource,
  view: (id, state, { metadata }) => viewWebhookEndpoint(id, state, new Date(metadata.at)),
})

export const webhookEndpoints: Family = {
  name: 'webhook-endpoints',
  ids: { webhook_endpoint: 'we', webhook_replay: 'wr', event: 'evt' },
  scopes: ['webhooks.read', 'webhooks.write'],
  streams: [webhookEndpoint, webhookReplay, webhookRoster],
  publicEvents: [told],
}
