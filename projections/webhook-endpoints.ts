import { webhookEndpoint } from '../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import { webhookReplay } from '../packages/domain/webhook-endpoints/webhook-replay.ts'
import { documents } from '../packages/kernel/projection.ts'

export const webhookEndpoints = documents(webhookEndpoint, {
  name: 'webhook_endpoints',
  version: 2,
  columns: { status: 'text' },
})

export const webhookReplays = documents(webhookReplay, {
  name: 'webhook_replays',
  version: 2,
  columns: { status: 'text' },
  indexes: [['status', 'merchant', 'livemode', 'created']],
})
