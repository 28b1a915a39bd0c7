import { perform } from '../../../packages/contract/routes.ts'
import { section } from '../../../packages/contract/section.ts'
import { Feed, FeedQuery, listEvents } from '../actions/events.ts'

/** An addition of ours, because the first retry of a webhook comes only after five minutes. */
const rows = [
  perform('GET /api/v1/events', {
    summary: 'Events in the order in which they happened, without gaps, oldest first',
    scope: 'webhooks.read',
    inferred: true,
    query: FeedQuery,
    returns: Feed,
    action: listEvents,
  }),
]

export const eventRoutes = section(
  'Events',
  'The same events as a feed that can be read at any time, in their order and without gaps.',
  rows,
)
