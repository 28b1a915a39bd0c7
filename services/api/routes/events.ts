import { perform } from '../../../packages/contract/routes.ts'
import { Feed, FeedQuery, listEvents } from '../actions/events.ts'

/** An addition of ours, because the first retry of a webhook comes only after five minutes. */
export const eventRoutes = [
  perform('GET /api/v1/events', {
    summary: 'Events in the order in which they happened, without gaps, oldest first',
    scope: 'webhooks.read',
    inferred: true,
    query: FeedQuery,
    returns: Feed,
    action: listEvents,
  }),
]
