import { addressBlocks } from '../../infra/http/addresses.ts'
import { guardedPools } from '../../infra/http/egress.ts'
import { Deliveries } from '../../infra/postgres/webhooks/deliveries.ts'
import { Replays } from '../../infra/postgres/webhooks/replays.ts'
import { merchant } from '../../packages/domain/merchants/merchant.ts'
import { readState } from '../../packages/kernel/history.ts'
import type { EventBus } from '../../packages/kernel/ports/messages.ts'
import type { Subscription } from '../../packages/kernel/ports.ts'
import type { Runtime } from '../composition/dependencies.ts'
import { startWebhooks, type WebhookGauges } from './main.ts'

/**
 * Domain model, section 4: a webhook has 5 s to connect and 15 s in all; the first 4 kB of its answer are
 * kept.
 */
export const webhookCalls = {
  connectTimeoutMs: 5_000,
  timeoutMs: 15_000,
  answerBytesMax: 4_096,
  poolsMax: 1_000,
}

/** Delivers beside any number of others: each delivery is claimed by one process. */
export async function runWebhooks(
  { postgres, dependencies, configuration, health }: Runtime,
  bus: EventBus,
): Promise<Subscription> {
  const deliveries = new Deliveries(postgres.url)
  const observe = ({ held, unreadable }: WebhookGauges) => {
    health.metrics.gauge('webhook_deliveries_held', 'Deliveries in memory: waiting and under way', held)
    health.metrics.gauge('webhook_endpoints_unreadable', 'Endpoints whose deliveries wait', unreadable)
  }
  const running = await startWebhooks({
    ...dependencies,
    bus,
    observe,
    deliveries,
    replays: new Replays(postgres.pool),
    egress: guardedPools({ ...webhookCalls, allow: addressBlocks(configuration.egressAllow) }),
    addressOf: async (id) => {
      const state = await readState(dependencies.store, merchant, id)
      return state.status === 'none' ? undefined : state.email
    },
  })
  const close = async () => {
    await running.close()
    await deliveries.close()
  }
  return { close }
}
