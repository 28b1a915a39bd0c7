import type { NamedExamples } from '../../contract/routes.ts'

export const endpointExamples: NamedExamples = {
  two_types: {
    summary: 'Two event types',
    value: {
      url: 'https://shop.example.com/webhooks',
      enabled_events: ['payment_intent.succeeded', 'payout.failed'],
    },
  },
  everything: {
    summary: 'Everything',
    value: { url: 'https://shop.example.com/webhooks', enabled_events: ['*'] },
  },
}

export const revisionExamples: NamedExamples = {
  off: { summary: 'Turn it off', value: { enabled: false } },
}

export const rotationExamples: NamedExamples = {
  a_day: { summary: 'The old secret signs for one more day', value: { expires_in: 86400 } },
}

export const replayExamples: NamedExamples = {
  event: {
    summary: 'One event',
    value: { event_id: 'evt_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e', reason: 'Lost on our side' },
  },
  endpoint: {
    summary: 'All that an endpoint missed',
    value: { webhook_endpoint_id: 'we_01932c5e8f2a7b3c9d4e5f6a7b8c9d0e' },
  },
}
