import { publicId } from '../../packages/contract/identity.ts'
import { idPrefixes } from '../../packages/domain/index.ts'
import type { Log } from '../../packages/kernel/ports.ts'
import type { UnnumberedEvent } from '../../infra/postgres/webhooks/event-feed.ts'

/** After it, nothing more is expected to happen to the money. */
const end =
  /^(?:payout\.(?:paid|failed|canceled)|payment_intent\.(?:succeeded|payment_failed|canceled)|refund\.(?:succeeded|failed))$/

/** One line for each payout, payment and refund that has ended, with the ids that merchants know. */
export function logEnds(log: Log, events: readonly UnnumberedEvent[]): void {
  for (const { id, type, resource, merchant, livemode } of events) {
    if (!end.test(type)) continue
    const [kind = '', uuid = ''] = resource.split('/')
    const prefix = idPrefixes[kind]
    log.info({ resource: prefix ? publicId(prefix, uuid) : uuid, event: id, merchant, livemode }, type)
  }
}
