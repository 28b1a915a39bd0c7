import {
  webhookEndpoint,
  type RegisteredWebhookEndpoint,
  type WebhookEndpoint,
} from '../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import { parseStreamName, streamName } from '../../packages/kernel/decider.ts'
import { foldStored } from '../../packages/kernel/history.ts'
import { ownedBy, owns, type MerchantOwner } from '../../packages/kernel/owner.ts'
import type { EventStore } from '../../packages/kernel/ports.ts'
import { equal, type DocumentRow, type ReadStore } from '../../packages/kernel/read-ports.ts'

export interface ListedEndpoint {
  readonly id: string
  /** Position of its registration in the log. */
  readonly created: number
  readonly state: RegisteredWebhookEndpoint
}

interface Sources {
  readonly store: EventStore
  readonly reads: ReadStore
}

const pageSize = 100
const tailSize = 1_000

/** The endpoints of an owner that get deliveries, as they are now, however far the read model is behind. */
export async function enabledEndpoints(
  sources: Sources,
  owner: MerchantOwner,
): Promise<readonly ListedEndpoint[]> {
  const { listed, position } = await readModelOf(sources, owner)
  for (const id of await changedBehind(sources, owner, position)) {
    const endpoint = await readEndpoint(sources, owner, id)
    if (endpoint && endpoint.state.status !== 'disabled') listed.set(id, endpoint)
    else listed.delete(id)
  }
  return [...listed.values()]
}

/** One endpoint of this owner, enabled or not. */
export async function readEndpoint(
  { store }: Pick<Sources, 'store'>,
  owner: MerchantOwner,
  id: string,
): Promise<ListedEndpoint | undefined> {
  const events = await store.readStream(streamName(webhookEndpoint.category, id), 0)
  const [first] = events
  if (!first || !owns(first.metadata, owner)) return undefined
  const state = foldStored(webhookEndpoint, events) as WebhookEndpoint
  return state.status === 'none' ? undefined : { id, created: first.position, state }
}

async function readModelOf({ reads }: Sources, owner: MerchantOwner) {
  const listed = new Map<string, ListedEndpoint>()
  let position: number | undefined
  for (let after = 0; ;) {
    const page = await reads.page<DocumentRow & ListedEndpoint>({
      from: 'webhook_endpoints',
      where: [...equal(ownedBy(owner)), { column: 'status', operator: 'in', value: ['active', 'failing'] }],
      bounds: [{ column: 'created', operator: '>', value: after }],
      order: 'created',
      ascending: true,
      limit: pageSize,
    })
    position ??= page.position
    for (const { id, created, state } of page.rows) listed.set(id, { id, created, state })
    if (page.rows.length < pageSize) return { listed, position }
    after = page.rows.at(-1)!.created
  }
}

/** Ids of endpoints of this owner about which the log has more to say than the read model. */
async function changedBehind(
  { store }: Sources,
  owner: MerchantOwner,
  position: number,
): Promise<ReadonlySet<string>> {
  const changed = new Set<string>()
  for (let after = position; ;) {
    const events = await store.readAll(after, tailSize, { categories: [webhookEndpoint.category] })
    for (const { stream, metadata } of events)
      if (owns(metadata, owner)) changed.add(parseStreamName(stream).id)
    if (events.length < tailSize) return changed
    after = events.at(-1)!.position
  }
}
