import { listItems, perform } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { EventResource, feedItems, FeedQuery, showEvent } from '../actions/webhooks/events.ts'
import { deliveriesOfEvent, WebhookDeliveryResource } from '../actions/webhooks/webhook-deliveries.ts'

/** An addition of ours, because the first retry of a webhook comes only after five minutes. */
const rows = [
  listItems('GET /api/v1/events', {
    summary: 'Events in the order in which they are told, none left out, oldest first',
    scope: 'webhooks.read',
    inferred: true,
    query: FeedQuery,
    returns: EventResource,
    items: feedItems,
  }),

  perform('GET /api/v1/events/{id}', {
    summary: 'One event, as it was sent',
    scope: 'webhooks.read',
    params: { id: 'event' },
    inferred: true,
    returns: EventResource,
    refusals: ['resource_must_exist'],
    action: showEvent,
  }),

  listItems('GET /api/v1/events/{id}/deliveries', {
    summary: 'Where an event was sent, how often, and what each endpoint answered last; newest first',
    scope: 'webhooks.read',
    params: { id: 'event' },
    inferred: true,
    returns: WebhookDeliveryResource,
    items: deliveriesOfEvent,
  }),
]

export const eventRoutes = section(
  'Events',
  'The same events as a feed that can be read at any time, in their order and without gaps. A credential ' +
    'sees the events of those resources that it may read: `payout.*` with `payouts.read`, and so on.',
  rows,
)
