import {
  webhookEndpoint,
  type RegisteredWebhookEndpoint,
  type WebhookEndpoint,
} from '../../packages/domain/webhook-endpoints/webhook-endpoint.ts'
import { parseStreamName, streamName } from '../../packages/kernel/decider.ts'
import { foldStored } from '../../packages/kernel/history.ts'
import { ownedBy, owns, type MerchantOwner } from '../../packages/kernel/owner.ts'
import type { EventStore, StoredEvent } from '../../packages/kernel/ports.ts'
import { equal, type DocumentRow, type ReadStore } from '../../packages/kernel/read-ports.ts'

export interface ListedEndpoint {
  readonly id: string
  /** Position of its registration in the log. */
  readonly created: number
  readonly state: RegisteredWebhookEndpoint
  /** Why its stream cannot be read to the end: `state` is older. Missing where it can. */
  readonly fault?: unknown
}

/** An event of one endpoint's stream that this version of the service cannot read. */
export class UnreadableEndpointError extends Error {
  override readonly name = 'UnreadableEndpointError'

  constructor(id: string, cause: unknown) {
    super(`the stream of webhook endpoint ${id} cannot be read to its end`, { cause })
  }
}

interface Sources {
  readonly store: EventStore
  readonly reads: ReadStore
}

const pageSize = 100
const tailSize = 1_000

/**
 * An owner's endpoints that receive deliveries, as they are now, however far the read model is behind. An
 * unreadable one keeps its last readable state and affects none of the others.
 */
export async function enabledEndpoints(
  sources: Sources,
  owner: MerchantOwner,
): Promise<readonly ListedEndpoint[]> {
  const { ids, position } = await readModelOf(sources, owner)
  for (const id of await changedBehind(sources, owner, position)) ids.add(id)
  // From their streams: the read model moves on past a stream that it has parked.
  const found = await Promise.all([...ids].map((id) => readFaulty(sources, owner, id)))
  return found.filter(isEnabled).sort((one, other) => one.created - other.created)
}

function isEnabled(found: FoundEndpoint | undefined): found is ListedEndpoint {
  return found?.state.status === 'active' || found?.state.status === 'failing'
}

/** One endpoint of this owner, enabled or not; rejects with UnreadableEndpointError. */
export async function readEndpoint(
  sources: Pick<Sources, 'store'>,
  owner: MerchantOwner,
  id: string,
): Promise<ListedEndpoint | undefined> {
  const found = await readFaulty(sources, owner, id)
  if (!found) return undefined
  const { created, state, fault } = found
  if (fault !== undefined) throw new UnreadableEndpointError(id, fault)
  return state.status === 'none' ? undefined : { id, created, state }
}

interface FoundEndpoint extends Omit<ListedEndpoint, 'state'> {
  readonly state: WebhookEndpoint
}

async function readFaulty(
  { store }: Pick<Sources, 'store'>,
  owner: MerchantOwner,
  id: string,
): Promise<FoundEndpoint | undefined> {
  const events = await store.readStream(streamName(webhookEndpoint.category, id), 0)
  const [first] = events
  if (!first || !owns(first.metadata, owner)) return undefined
  return { id, created: first.position, ...foldReadable(events) }
}

/** As far as the events can be read. */
function foldReadable(events: readonly StoredEvent[]): { state: WebhookEndpoint; fault?: unknown } {
  let state = webhookEndpoint.initial()
  for (const event of events) {
    try {
      state = foldStored(webhookEndpoint, [event], state) as WebhookEndpoint
    } catch (fault) {
      return { state, fault }
    }
  }
  return { state }
}

async function readModelOf({ reads }: Sources, owner: MerchantOwner) {
  const ids = new Set<string>()
  let position: number | undefined
  for (let after = 0; ;) {
    const page = await reads.page<DocumentRow>({
      from: 'webhook_endpoints',
      where: [...equal(ownedBy(owner)), { column: 'status', operator: 'in', value: ['active', 'failing'] }],
      bounds: [{ column: 'created', operator: '>', value: after }],
      order: 'created',
      ascending: true,
      limit: pageSize,
    })
    position ??= page.position
    for (const { id } of page.rows) ids.add(id)
    if (page.rows.length < pageSize) return { ids, position }
    after = page.rows.at(-1)!.created
  }
}

/** Ids of this owner's endpoints for which the log is ahead of the read model. */
async function changedBehind(
  { store }: Sources,
  owner: MerchantOwner,
  position: number,
): Promise<ReadonlySet<string>> {
  const changed = new Set<string>()
  for await (const { stream, metadata } of endpointEventsAfter(store, position))
    if (owns(metadata, owner)) changed.add(parseStreamName(stream).id)
  return changed
}

/** What has happened to endpoints, of all owners, after a position of the log. */
export async function* endpointEventsAfter(
  store: EventStore,
  position: number,
): AsyncGenerator<StoredEvent, void> {
  for (let after = position; ;) {
    const events = await store.readAll(after, tailSize, { categories: [webhookEndpoint.category] })
    yield* events
    if (events.length < tailSize) return
    after = events.at(-1)!.position
  }
}
